import assert from 'node:assert/strict'
import { execFile } from 'node:child_process'
import { readFile } from 'node:fs/promises'
import { join } from 'node:path'
import { promisify } from 'node:util'
import { getLastText, type MessagesTurn, startMessagesApi } from '../apis/messages-api.ts'
import type { Stage } from '../stage.ts'
import { poll, type Story } from '../story.ts'
import { Terminal } from '../terminal.ts'
import { allowStandIn } from './allow-stand-in.ts'
import { openClaudeStage, skipFirstQuestions } from './claude-stage.ts'

const run = promisify(execFile)

const NUMBERS = [1, 2, 3, 4] as const
const SERVER_PORT = 3000
/** A dev server, which shows the file of its fork. */
const SERVER = `require('node:http')
  .createServer((_, response) => response.end(require('node:fs').readFileSync('made.txt')))
  .listen(${SERVER_PORT})
`
const LINES = Array.from({ length: 30 }, (_, index) => `line ${index + 1}\n`).join('')
const FILES = {
  'notes.txt': 'notes\n',
  'list.txt': LINES,
  '.env': 'TOKEN=SECRET-1\n',
  'server.cjs': SERVER,
} as const
/** The fork of which a person keeps one hunk. */
const PICKED = 3
const TASK = /task (\d) please/

/**
 * `coppice exec -- claude` as a person uses it: interactive, in four forks at once, each with its own server on the same
 * port, with ^Z and a second shell.
 */
export const fourTerminals: Story = {
  name: 'exec: Claude Code in four terminals',
  async run(signal) {
    const seen: string[] = []
    await using api = await startMessagesApi((request) => {
      const last = getLastText(request)
      seen.push(last)
      return answer(last)
    })
    await using stage = await openClaudeStage(api, { files: FILES, signal })
    await allowStandIn(stage, api.url)
    await skipFirstQuestions(stage)
    await using terminals = new AsyncDisposableStack()
    const open = async () => terminals.use(await Terminal.open(stage.project, stage.env, signal))
    const people = await Promise.all(
      NUMBERS.map(async (number) => ({ number, terminal: await startClaude(await open(), number) })),
    )
    for (const { number, terminal } of people) {
      await terminal.type(`task ${number} please`, 'Enter')
      await terminal.shows(new RegExp(`Task ${number} is done`))
    }
    await openServers(stage, signal)
    await lookFromOutside(await open())
    await stopAndResume(people[0]?.terminal)
    for (const { number, terminal } of people) await endClaude(terminal, number)
    for (const number of NUMBERS) {
      const changes = await stage.coppice('diff', `fix-${number}`)
      assert.match(changes, new RegExp(`^\\+made by ${number}$`, 'm'))
    }
    await keepParts(stage)
    await keepHunk(stage, await open())
    assert.doesNotMatch(seen.join('\n'), /SECRET/)
    assert.equal(seen.join('\n').match(/no other host/g)?.length, NUMBERS.length)
    assert.equal(await readFile(join(stage.project, '.env'), 'utf8'), FILES['.env'])
    assert.deepEqual(api.problems, [])
    return `${api.requests.length} requests; four forks with a change and a server each, one secret that none has read, parts of two and a hunk of a third kept, undone and kept again`
  },
}

function answer(last: string): MessagesTurn {
  const [, task] = TASK.exec(last) ?? []
  if (task === undefined) return { text: `Task ${/made by (\d)/.exec(last)?.[1] ?? '?'} is done` }
  const lines = [
    'cat .env',
    `echo made by ${task} > made.txt`,
    ...(task === String(PICKED) ? ['sed -i "s/line 2$/TOP/; s/line 29$/BOTTOM/" list.txt'] : []),
    'curl -fsS -m 20 http://other.example/ || echo no other host',
    'node server.cjs >/dev/null 2>&1 &',
    'cat made.txt',
  ]
  return { tool: 'Bash', input: { command: lines.join('\n') } }
}

/** All four made the same file: one is kept, the lines of a second merged, all of it undone and done again. */
async function keepParts(stage: Stage): Promise<void> {
  const made = join(stage.project, 'made.txt')
  const forks = NUMBERS.map((number) => `fix-${number}`)
  const compared = await stage.coppice('compare', ...forks, '--check', 'grep -q TOP list.txt')
  assert.match(compared, /^fix-1 +exit 1 .* fix-2, fix-3, fix-4: 1 file$/m)
  assert.match(compared, new RegExp(`^fix-${PICKED} +passed `, 'm'))
  await stage.coppice('apply', 'fix-1', '--', 'made.txt')
  await assert.rejects(stage.coppice('apply', 'fix-2', '--merge'), /coppice resolve \/made\.txt --union/)
  await stage.coppice('resolve', 'made.txt', '--union')
  await stage.coppice('apply', '--continue')
  assert.equal(await readFile(made, 'utf8'), 'made by 1\nmade by 2\n')
  for (const fork of ['fix-2', 'fix-1']) await stage.coppice('apply', fork, '--undo')
  await assert.rejects(readFile(made), /ENOENT/)
  await stage.coppice('apply', 'fix-1', '--', 'made.txt')
  await stage.coppice('apply', '--continue')
  assert.equal(await readFile(made, 'utf8'), 'made by 1\nmade by 2\n')
}

/** One of two hunks of a file is kept by answering the questions of `apply -p`. */
async function keepHunk(stage: Stage, terminal: Terminal): Promise<void> {
  const list = join(stage.project, 'list.txt')
  await terminal.type(`coppice apply fix-${PICKED} -p -- list.txt`, 'Enter')
  await terminal.shows(/\(1\/2\) .*\]\? *$/m)
  await terminal.type('y', 'Enter')
  await terminal.shows(/\(2\/2\) .*\]\? *$/m)
  await terminal.type('n', 'Enter')
  await terminal.shows(/^wrote 1 change/m)
  assert.equal(await readFile(list, 'utf8'), LINES.replace('line 2\n', 'TOP\n'))
}

/** Each server is at the address of its fork, which `coppice forks` shows. */
async function openServers(stage: Stage, signal: AbortSignal): Promise<void> {
  const listed = await poll(async () => {
    const output = await stage.coppice('forks')
    return output.split('\n').filter((line) => line.includes('localhost:')).length === NUMBERS.length
      ? output
      : undefined
  }, signal)
  for (const number of NUMBERS) {
    const [, url = ''] =
      new RegExp(
        `^fix-${number} +now .* runs claude[^\n]*\n  (http://fix-${number}\\.localhost:\\d+) `,
        'm',
      ).exec(listed) ?? []
    assert.equal(await requestByName(url, signal), `made by ${number}\n`)
  }
}

/** Requests a page as curl does: names below `localhost` are this machine, also where its resolver does not know them. */
async function requestByName(url: string, signal: AbortSignal): Promise<string> {
  return (await run('curl', ['-sS', '-m', '20', url], { signal })).stdout
}

async function startClaude(terminal: Terminal, number: number): Promise<Terminal> {
  const command = `exec --fork fix-${number} --with stand-in -- claude --permission-mode default --allowedTools Bash`
  await terminal.type(`coppice ${command}`, 'Enter')
  await terminal.shows(/^❯/m)
  return terminal
}

/** A second shell in a fork sees what Claude Code has written there. */
async function lookFromOutside(terminal: Terminal): Promise<void> {
  await terminal.type('coppice enter fix-2 -- cat made.txt', 'Enter')
  await terminal.shows(/^made by 2$/m)
}

async function stopAndResume(terminal: Terminal | undefined): Promise<void> {
  assert.ok(terminal)
  await terminal.type('', 'C-z')
  await terminal.shows(/Stopped/)
  await terminal.type('fg', 'Enter')
  await terminal.shows(/^❯/m)
}

async function endClaude(terminal: Terminal, number: number): Promise<void> {
  await terminal.type('/exit')
  await terminal.shows(/Exit the CLI/)
  await terminal.type('', 'Enter')
  await terminal.shows(new RegExp(`in fix-${number}: coppice diff`))
}
