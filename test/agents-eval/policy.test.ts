import { mkdirSync, mkdtempSync, rmSync, writeFileSync } from 'node:fs'
import { tmpdir } from 'node:os'
import { dirname, join } from 'node:path'
import { describe, expect, it, onTestFinished } from 'vitest'
import { runCheck } from './check.ts'
import { ScriptedModel } from './policy.ts'
import { repairTasks } from './tasks.ts'

const RENAME = 'Rename the function `one` to `two` in all files below `src`.'

/** Plays a conversation: returns the calls of each answer, and the last text. */
function play(offered: readonly string[], results: readonly string[][], system = ''): unknown[] {
  const model = new ScriptedModel()
  const tools = offered.map((name) => ({ name, input_schema: {} }))
  const texts = [RENAME]
  return [[], ...results].map((news) => {
    texts.push(...news)
    const { calls, text } = model.answer({ system, tools, texts })
    return calls.length === 0 ? text : calls
  })
}

describe('the model of rules', () => {
  it('edits the lines that a search shows', () => {
    const found = '1 matching line in 1 file\nvfs:///workspace/src/a.js\n> 7: one(1)'
    const [search, edit, text] = play(['file_grep', 'file_edit'], [[found], ['edited']])
    expect(search).toMatchObject([{ name: 'file_grep', input: { path: 'src', pattern: '\\bone\\b' } }])
    const lines = { operation: 'replace_lines', start: 7, end: 7, content: 'two(1)' }
    expect(edit).toEqual([{ name: 'file_edit', input: { path: 'src/a.js', ...lines } }])
    expect(text).toBe('Renamed in 1 lines.')
  })

  it('reads all files if no tool searches them', () => {
    const answers = play(
      ['search_files', 'read_multiple_files', 'edit_file'],
      [['/p/src/a.js\n/p/src/b.js'], ['src/a.js:\nnone()\n\n\n---\nsrc/b.js:\none()\n\n'], ['edited']],
      'You work in the directory /p.',
    )
    expect(answers).toEqual([
      [{ name: 'search_files', input: { path: 'src', pattern: '**/*.*' } }],
      [{ name: 'read_multiple_files', input: { paths: ['src/a.js', 'src/b.js'] } }],
      [
        {
          name: 'edit_file',
          input: { path: 'src/b.js', edits: [{ oldText: 'one()\n', newText: 'two()\n' }] },
        },
      ],
      'Renamed in 1 lines.',
    ])
  })

  it('gives up when a call fails', () => {
    const [, text] = play(['file_grep'], [['Error: ENOENT: no such file or directory']])
    expect(text).toMatch(/could not.*ENOENT/)
  })

  it('counts what every request has', () => {
    const model = new ScriptedModel()
    const request = { system: '12345', tools: [], texts: ['Do something else.'] }
    model.answer(request)
    model.answer(request)
    expect(model.count).toEqual({ requests: 2, fixed: 14, messages: 36 })
  })
})

it.each(repairTasks)('the check fails as long as nobody did the task: $name', ({ files, check }) => {
  const directory = mkdtempSync(join(tmpdir(), 'eval-'))
  onTestFinished(() => rmSync(directory, { recursive: true }))
  for (const [file, text] of Object.entries(files)) {
    mkdirSync(dirname(join(directory, file)), { recursive: true })
    writeFileSync(join(directory, file), text)
  }
  expect(runCheck(check, directory)).toBeDefined()
})
