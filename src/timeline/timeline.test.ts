import { execFileSync } from 'node:child_process'
import {
  chmodSync,
  existsSync,
  mkdirSync,
  mkdtempSync,
  readFileSync,
  renameSync,
  rmSync,
  statSync,
  symlinkSync,
  utimesSync,
  writeFileSync,
} from 'node:fs'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { afterEach, beforeEach, describe, expect, it } from 'vitest'
import { type Home, openHome } from '../backends/vault/index.ts'
import { parseAgentEvent } from './events/index.ts'
import { Timeline } from './timeline.ts'

describe('a timeline', () => {
  let place: string
  let project: string
  let home: Home
  let timeline: Timeline

  beforeEach(async () => {
    place = mkdtempSync(join(tmpdir(), 'coppice-timeline-'))
    project = join(place, 'project')
    mkdirSync(project)
    home = await openHome({ path: join(place, 'home') })
    timeline = open()
  })
  afterEach(async () => {
    await home.close()
    rmSync(place, { recursive: true })
  })

  const open = (settings = {}) =>
    new Timeline({ path: join(place, 'home'), open: async () => home }, project, settings)
  const write = (name: string, text: string) => {
    mkdirSync(join(project, name, '..'), { recursive: true })
    writeFileSync(join(project, name), text)
  }
  const read = (name: string) => readFileSync(join(project, name), 'utf8')

  async function send(event: string, fields: object = {}): Promise<void> {
    const text = JSON.stringify({ session_id: 's', cwd: project, hook_event_name: event, ...fields })
    const parsed = parseAgentEvent('claude', text)
    if (parsed !== undefined) await timeline.receive(parsed)
  }
  /** Does some work as one call of a tool. */
  async function call(work: () => void, tool = 'Bash', input: object = { command: 'work' }): Promise<void> {
    const fields = { tool_name: tool, tool_input: input, tool_use_id: `${tool} ${Math.random()}` }
    await send('PreToolUse', fields)
    work()
    await send('PostToolUse', fields)
  }
  const authors = async () => (await timeline.list()).history.records.map(({ by }) => by)

  it('attributes to an edit only the file that it names', async () => {
    write('a', 'one\n')
    await send('UserPromptSubmit', { prompt: 'go' })
    await call(
      () => {
        write('a', 'two\n')
        write('b', 'from the editor of a person\n')
      },
      'Edit',
      { file_path: join(project, 'a') },
    )
    await timeline.undo({ selection: { last: 1 } })
    expect(read('a')).toBe('one\n')
    expect(existsSync(join(project, 'b'))).toBe(true)
  })

  it('refuses to undo where an agent moved away what a person had changed', async () => {
    write('a', 'start\n')
    await send('UserPromptSubmit', { prompt: 'go' })
    await call(() => renameSync(join(project, 'a'), join(project, 'b')))
    write('b', 'by a person\n')
    await call(() => write('a', 'by the agent\n'))
    await call(() => renameSync(join(project, 'b'), join(project, 'a')))
    const undo = timeline.undo({ selection: { last: 1 } })
    await expect(undo).rejects.toMatchObject({ code: 'ECONFLICT', conflicts: [{ path: '/b' }] })
    expect(read('a')).toBe('by a person\n')
    // The call alone can be undone.
    await timeline.undo({ selection: { prompt: 1, call: 3 } })
    expect([read('a'), read('b')]).toEqual(['by the agent\n', 'by a person\n'])
  })

  it('names other calls whose later changes an undo takes back', async () => {
    write('a', 'start\n')
    write('b', 'start\n')
    await send('UserPromptSubmit', { prompt: 'one' })
    await call(() => write('a', 'one\n'))
    await send('UserPromptSubmit', { prompt: 'two' })
    await call(() => write('b', 'two\n'))
    await call(() => write('a', 'two\n'))
    const request = { selection: { prompt: 1 } }
    const dry = await timeline.undo({ ...request, dryRun: true })
    expect(dry.others).toEqual([{ prompt: 2, call: 2 }])
    expect((await timeline.undo(request)).others).toEqual([{ prompt: 2, call: 2 }])
    expect([read('a'), read('b')]).toEqual(['start\n', 'two\n'])
    expect((await timeline.redo()).others).toEqual([])
    // Both are selected, so neither is another one.
    expect((await timeline.undo({ selection: { last: 2 } })).others).toEqual([])
  })

  it('calls only changes of agents undone', async () => {
    write('a', 'start\n')
    await send('UserPromptSubmit', { prompt: 'go' })
    await call(() => write('a', 'agent\n'))
    write('b', 'by a person\n')
    await timeline.undo({ selection: { last: 1 } })
    const { history } = await timeline.list()
    expect(history.records.map((record) => [record.by, history.isUndone(record)])).toEqual([
      ['agent', true],
      ['person', false],
      ['undo', false],
    ])
  })

  it('says where there is nothing to undo', async () => {
    await send('UserPromptSubmit', { prompt: 'go' })
    await call(() => write('a', 'agent\n'))
    const undo = (request: Parameters<Timeline['undo']>[0]) => timeline.undo(request)
    await expect(undo({ selection: { last: 1 }, paths: ['/b'] })).rejects.toThrow(
      `the last prompt with changes made none in ${project}/b; list`,
    )
    await expect(undo({ selection: { prompt: 1 }, paths: ['/b'] })).rejects.toThrow(
      `prompt 1 has no changes in ${project}/b that can be undone`,
    )
    await expect(undo({ selection: { prompt: 9, call: 2 } })).rejects.toThrow('call 9.2 has no changes that')
    await undo({ selection: { last: 1 } })
    await expect(undo({ selection: { last: 1 } })).rejects.toThrow(
      `no agent changed ${project} since the last undo`,
    )
  })

  it('restores permissions, links, times and empty directories', async () => {
    write('run.sh', '#!/bin/sh\n')
    chmodSync(join(project, 'run.sh'), 0o750)
    utimesSync(join(project, 'run.sh'), 1000, 1000)
    symlinkSync('run.sh', join(project, 'link'))
    mkdirSync(join(project, 'empty'), 0o700)
    await send('UserPromptSubmit', { prompt: 'go' })
    await call(() => {
      for (const name of ['run.sh', 'link', 'empty']) rmSync(join(project, name), { recursive: true })
      write('link', 'a file\n')
    })
    await timeline.undo({ selection: { last: 1 } })
    expect(statSync(join(project, 'run.sh')).mode & 0o777).toBe(0o750)
    expect(statSync(join(project, 'run.sh')).mtimeMs).toBe(1_000_000)
    expect(read('link')).toBe('#!/bin/sh\n')
    expect(statSync(join(project, 'empty')).mode & 0o777).toBe(0o700)
  })

  it('undoes a checkout, a commit and a reset of Git', async () => {
    const git = (...args: string[]) =>
      execFileSync('git', ['-c', 'user.name=a', '-c', 'user.email=a@b', ...args], {
        cwd: project,
        encoding: 'utf8',
      })
    git('init', '-q', '-b', 'main')
    write('a', 'one\n')
    git('add', '.')
    git('commit', '-qm', 'first')
    const first = git('rev-parse', 'HEAD')
    write('a', 'work of a person\n')
    await send('UserPromptSubmit', { prompt: 'go' })
    await call(() => {
      git('checkout', '-q', '-b', 'other')
      git('commit', '-qam', 'second')
      git('reset', '-q', '--hard', 'HEAD~1')
    })
    expect(read('a')).toBe('one\n')
    // It writes the index, but stages nothing.
    git('status')
    await timeline.undo({ selection: { last: 1 } })
    expect(read('a')).toBe('work of a person\n')
    expect(git('rev-parse', '--abbrev-ref', 'HEAD').trim()).toBe('main')
    expect(git('rev-parse', 'HEAD')).toBe(first)
    expect(git('status', '--porcelain')).toBe(' M a\n')
    expect(git('branch', '--list', 'other')).toBe('')
    git('fsck')
  })

  it('keeps a directory with files that were not recorded', async () => {
    await send('UserPromptSubmit', { prompt: 'go' })
    await call(() => {
      write('pkg/index.js', '1\n')
      write('pkg/node_modules/x/index.js', '2\n')
    })
    await timeline.undo({ selection: { last: 1 } })
    expect(existsSync(join(project, 'pkg/index.js'))).toBe(false)
    expect(existsSync(join(project, 'pkg/node_modules/x/index.js'))).toBe(true)
  })

  it('records ignored files, and build output of a repository only if it is not ignored', async () => {
    mkdirSync(join(project, '.git'))
    write('.git/HEAD', 'ref: refs/heads/main\n')
    write('.gitignore', '/dist/\n.env\n')
    for (const name of ['dist/a', 'lib/dist/a', '.env']) write(name, 'old\n')
    await send('UserPromptSubmit', { prompt: 'go' })
    await call(() => {
      for (const name of ['dist/a', 'lib/dist/a', '.env']) write(name, 'new\n')
    })
    await timeline.undo({ selection: { last: 1 } })
    expect([read('dist/a'), read('lib/dist/a'), read('.env')]).toEqual(['new\n', 'old\n', 'old\n'])
  })

  it('says which changed files were too large to be recorded', async () => {
    mkdirSync(join(project, '.git'))
    write('.git/HEAD', 'ref: refs/heads/main\n')
    write('.gitignore', '*.db\n')
    write('big.db', 'x'.repeat(100))
    timeline = open({ max_ignored_bytes: 50 })
    await send('UserPromptSubmit', { prompt: 'go' })
    await call(() => {
      write('big.db', 'y'.repeat(100))
      write('a', 'one\n')
    })
    const { skipped } = await timeline.undo({ selection: { last: 1 } })
    expect(skipped).toEqual(['/big.db'])
    expect(read('big.db')).toBe('y'.repeat(100))
  })

  it('does not count as a change that settings begin to record a directory', async () => {
    write('node_modules/a', '1\n')
    await send('UserPromptSubmit', { prompt: 'go' })
    timeline = open({ exclude: [] })
    await call(() => write('b', '1\n'))
    await timeline.undo({ selection: { last: 1 } })
    expect(existsSync(join(project, 'node_modules/a'))).toBe(true)
  })

  it('takes changes of a killed call as unclear', async () => {
    write('a', 'one\n')
    await send('UserPromptSubmit', { prompt: 'go' })
    await send('PreToolUse', { tool_name: 'Bash', tool_input: { command: 'x' }, tool_use_id: '1' })
    write('a', 'half\n')
    await send('SessionStart')
    expect(await authors()).toEqual(['unclear'])
    await expect(timeline.undo({ selection: { last: 1 } })).rejects.toMatchObject({ code: 'ECONFLICT' })
    await timeline.undo({ selection: { last: 1 }, unfinished: true })
    expect(read('a')).toBe('one\n')
  })

  it('takes changes at the end of a turn as those of a call whose end was not reported', async () => {
    write('a', 'one\n')
    await send('UserPromptSubmit', { prompt: 'go' })
    await send('PreToolUse', { tool_name: 'Bash', tool_input: { command: 'x' }, tool_use_id: '1' })
    write('a', 'two\n')
    await send('Stop')
    expect(await authors()).toEqual(['agent'])
  })

  it('undoes one call, by path', async () => {
    for (const name of ['a', 'd/b', 'd/c']) write(name, 'one\n')
    await send('UserPromptSubmit', { prompt: 'go' })
    await call(() => write('a', 'two\n'))
    await call(() => {
      for (const name of ['a', 'd/b', 'd/c']) write(name, 'three\n')
    })
    await timeline.undo({ selection: { prompt: 1, call: 2 }, paths: ['/d/b'] })
    expect([read('a'), read('d/b'), read('d/c')]).toEqual(['three\n', 'one\n', 'three\n'])
    await timeline.undo({ selection: { prompt: 1, call: 2 } })
    expect([read('a'), read('d/b'), read('d/c')]).toEqual(['two\n', 'one\n', 'one\n'])
  })

  it('refuses to redo where an agent worked since', async () => {
    write('a', 'one\n')
    await send('UserPromptSubmit', { prompt: 'go' })
    await call(() => write('a', 'two\n'))
    await timeline.undo({ selection: { last: 1 } })
    await call(() => write('a', 'three\n'))
    await expect(timeline.redo()).rejects.toMatchObject({ code: 'ECONFLICT' })
    expect(read('a')).toBe('three\n')
  })

  it('writes nothing when it is only asked what it would do', async () => {
    write('a', 'one\n')
    await send('UserPromptSubmit', { prompt: 'go' })
    await call(() => renameSync(join(project, 'a'), join(project, 'b')))
    const { changes } = await timeline.undo({ selection: { last: 1 }, dryRun: true })
    expect(changes.map(({ path }) => path)).toEqual(['/a', '/b'])
    expect(existsSync(join(project, 'b'))).toBe(true)
  })

  it('forgets what is older, and undoes what is newer as before', async () => {
    for (const name of ['a', 'b']) write(name, 'one\n')
    await send('UserPromptSubmit', { prompt: 'first' })
    await call(() => write('a', 'two\n'))
    const { history } = await timeline.list()
    await send('UserPromptSubmit', { prompt: 'second' })
    await call(() => write('b', 'two\n'))
    const last = history.records.at(-1)?.time ?? 0
    expect(await timeline.forget(last + 1)).toBeGreaterThan(0)
    const left = await timeline.list()
    expect(left.history.records.filter(({ time }) => time <= last)).toEqual([])
    await expect(timeline.undo({ selection: { prompt: 1 } })).rejects.toMatchObject({ code: 'ENOENT' })
    await timeline.undo({ selection: { prompt: 2 } })
    expect([read('a'), read('b')]).toEqual(['two\n', 'one\n'])
    await timeline.redo()
    await timeline.forget(Number.POSITIVE_INFINITY)
    await call(() => write('a', 'three\n'))
    await timeline.undo({ selection: { last: 1 } })
    expect(read('a')).toBe('two\n')
  })

  it('merges bytes that are no UTF-8', async () => {
    const text = (first: string, last: string) => Buffer.from(`${first}\n\xe9\n\xff\n${last}\n`, 'latin1')
    writeFileSync(join(project, 'a'), text('one', 'two'))
    await send('UserPromptSubmit', { prompt: 'go' })
    await call(() => writeFileSync(join(project, 'a'), text('agent', 'two')))
    writeFileSync(join(project, 'a'), text('agent', 'person'))
    await timeline.undo({ selection: { last: 1 }, merge: true })
    expect(readFileSync(join(project, 'a'))).toEqual(text('one', 'person'))
  })
})
