import { execFileSync } from 'node:child_process'
import { existsSync, readFileSync, realpathSync, writeFileSync } from 'node:fs'
import { join } from 'node:path'
import { describe, expect, it, vi } from 'vitest'
import { users } from '../support/users.ts'
import { DaemonCli } from './daemon-cli.ts'

const slow = { say: 'late', delay_ms: 600_000 }
const PATIENT = { timeout: 30_000, interval: 100 }
const write = (path: string, content: string) => ({
  say: { action: 'tool_call', tool: `/dev/fs/${path}`, input: { content } },
})

interface Listed {
  readonly pid: number
  readonly ppid: number
  readonly intent: string
  readonly state: string
  readonly exit_code: number | null
  readonly provider: string
  readonly fork: string
  readonly groups: readonly string[]
}

/** Writes a composition to a file and returns its path. */
function composition(cli: DaemonCli, text: string): string {
  const file = join(cli.scratch, 'compose.yaml')
  writeFileSync(file, text)
  return file
}

async function ps(cli: DaemonCli, ...options: string[]): Promise<Listed[]> {
  return JSON.parse(await cli.ok('ps', '--json', ...options))
}

describe('coppice compose', () => {
  it('runs a dependent process later, with the results of its dependencies', async () => {
    const cli = new DaemonCli()
    const first = cli.script({ say: 'forty-two' })
    const second = cli.script({ expect: { intent: 'Output of first:\nforty-two' }, say: 'thanks' })
    const file = composition(
      cli,
      `agents:
  second: {intent: say thanks, script: ${second}, depends_on: [first]}
  first: {intent: say a number, script: ${first}}
`,
    )
    expect(await cli.ok('compose', 'up', file)).toMatch(
      /^second {2}done {2}2 {2}agent-\w+ {2}thanks\nfirst {3}done {2}1/,
    )
  })

  it('puts processes into groups, which one command ends', async () => {
    const cli = new DaemonCli()
    const script = cli.script(slow)
    const file = composition(
      cli,
      `groups: [release]
agents:
  notes: {intent: write notes, script: ${script}}
  tests: {intent: run tests, script: ${script}, groups: [checks]}
`,
    )
    const composed = cli.run(['compose', 'up', file, '--json'])
    await vi.waitFor(async () => {
      const running = await ps(cli)
      expect(running.map(({ groups }) => groups).sort()).toEqual([['checks', 'release'], ['release']])
    }, PATIENT)
    await cli.ok('kill', '--group', 'release')
    const { code, stdout } = await composed
    expect([code, JSON.parse(stdout)]).toMatchObject([1, [{ state: 'failed' }, { state: 'failed' }]])
  })

  it('names all paths of a conflict that keeps a process from starting', async () => {
    const cli = new DaemonCli()
    const scripts = ['one', 'two'].map((content) =>
      cli.script(
        ...['src/a-file-with-a-long-name.ts', 'src/another-file-with-a-long-name.ts'].map((path) => ({
          say: { tool_call: { name: 'write_file', input: { path, content } } },
        })),
        { say: 'Done.' },
      ),
    )
    const file = composition(
      cli,
      `agents:
  one: {intent: x, script: ${scripts[0]}}
  two: {intent: y, script: ${scripts[1]}}
  both: {intent: z, script: ${scripts[0]}, depends_on: [one, two]}
`,
    )
    const { code, stdout } = await cli.run(['compose', 'up', file])
    expect(code).toBe(1)
    expect(stdout).toMatch(
      /^both failed: ECONFLICT: .*a-file-with-a-long-name\.ts .*another-file-with-a-long-name\.ts /m,
    )
  })

  it('skips dependents of a failure, and refuses cycles before anything runs', async () => {
    const cli = new DaemonCli()
    const bad = composition(
      cli,
      'agents:\n  a: {intent: x, provider: nobody}\n  b: {intent: y, depends_on: [a]}\n',
    )
    const failed = await cli.run(['compose', 'up', bad, '--json'])
    expect(failed.code).toBe(1)
    expect(JSON.parse(failed.stdout)).toMatchObject([{ state: 'failed' }, { state: 'skipped', pid: null }])
    const circle = composition(
      cli,
      'agents:\n  a: {intent: x, depends_on: [b]}\n  b: {intent: y, depends_on: [a]}\n',
    )
    expect(await cli.run(['compose', 'up', circle])).toMatchObject({
      code: 1,
      stderr: expect.stringContaining('line 2: the dependencies form a cycle: a → b → a'),
    })
  })

  it.for(users)(
    'works on forks of a repository, and says how to keep the work of all, as $name',
    async ({ user, obstacle }, { skip }) => {
      if (obstacle !== undefined) skip(obstacle)
      const cli = new DaemonCli(user)
      execFileSync('git', ['init', '-q', cli.files])
      writeFileSync(join(cli.files, 'base.txt'), 'base\n')
      if (user !== undefined) execFileSync('chown', ['-R', `${user}:${user}`, cli.files])
      const end = cli.script(
        {
          say: {
            action: 'tool_call',
            tool: '/dev/shell',
            input: { command: 'echo $(cat base.txt one.txt two.txt)' },
          },
        },
        { expect: { last_message_contains: 'base one two' }, ...write('end.txt', 'end\n') },
        { say: 'all there' },
      )
      const file = composition(
        cli,
        `agents:
  one: {intent: one, script: ${cli.script(write('one.txt', 'one\n'), { say: 'did one' })}}
  two: {intent: two, script: ${cli.script(write('two.txt', 'two\n'), { say: 'did two' })}}
  end: {intent: end, script: ${end}, depends_on: [one, two]}
`,
      )
      const output = await cli.ok('compose', 'up', file)
      const [, fork = ''] =
        output.match(/\nthe work of end is in (agent-\w+); see coppice diff \1, and coppice apply \1\n$/) ??
        []
      expect(output.match(/the work of/g)).toHaveLength(1)
      expect(existsSync(join(cli.files, 'one.txt'))).toBe(false)
      expect(await cli.ok('diff', fork, '--stat')).toContain('3 paths')
      await cli.ok('apply', fork)
      expect(readFileSync(join(cli.files, 'end.txt'), 'utf8')).toBe('end\n')
      expect(readFileSync(join(cli.files, 'two.txt'), 'utf8')).toBe('two\n')
      expect(JSON.parse(await cli.ok('ps', '-a', '--json'))[0].vault).toBe(realpathSync(cli.files))
    },
  )

  it('leaves processes running after ^C, and names the command that ends them', async () => {
    const cli = new DaemonCli()
    const script = cli.script(slow)
    const file = composition(
      cli,
      `agents:
  notes: {intent: notes, script: ${script}}
  team: {strategy: one_for_one, children: [{intent: work, script: ${script}}]}
  later: {intent: later, script: ${script}, depends_on: [team]}
`,
    )
    const composing = cli.start(['compose', 'up', file])
    const ended = Promise.withResolvers<number | null>()
    composing.on('close', ended.resolve)
    let errors = ''
    composing.stderr.setEncoding('utf8').on('data', (chunk) => {
      errors += chunk
    })
    await vi.waitFor(async () => expect(await ps(cli)).toHaveLength(3), PATIENT)
    composing.kill('SIGINT')
    expect(await ended.promise).toBe(130)
    expect(errors).toMatch(
      /(notes|team) \(process \d\), (notes|team) \(process \d\) go on; what depends on them does not start\n/,
    )
    const [, pids = ''] = errors.match(/end them with coppice kill ([\d ]+)\n/) ?? []
    expect(await ps(cli)).toHaveLength(3)
    await cli.ok('kill', ...pids.split(' '))
    await vi.waitFor(async () => expect(await ps(cli)).toEqual([]), PATIENT)
  })
})

describe('a supervisor of a composition', () => {
  it('restarts a child that fails, and passes the merged files of the last runs on', async () => {
    const cli = new DaemonCli()
    const flaky = join(cli.scratch, 'flaky.yaml')
    writeFileSync(
      flaky,
      `shared: true
script:
- expect: {last_message_contains: flaky}
  say: {action: tool_call, tool: /dev/fs/bad.txt, input: {content: bad}}
- expect: {last_message_contains: flaky}
  say: {action: tool_call, tool: /dev/fs/good.txt, input: {content: good}}
- expect: {last_message_contains: good.txt}
  say: flaky done
`,
    )
    const steady = cli.script(
      { expect: { intent: 'Output of first:\nready' }, ...write('steady.txt', 'steady') },
      { say: 'steady done' },
    )
    const last = cli.script(
      {
        expect: { intent: 'Output of team:\nsteady done\n\nflaky done' },
        say: { action: 'tool_call', tool: '/dev/shell', input: { command: 'echo =$(echo *)=' } },
      },
      { expect: { last_message_contains: '=first.txt good.txt steady.txt=' }, say: 'all there' },
    )
    const file = composition(
      cli,
      `agents:
  first: {intent: first, script: ${cli.script(write('first.txt', 'first'), { say: 'ready' })}}
  team:
    strategy: one_for_one
    depends_on: [first]
    groups: [crew]
    children:
      - {intent: steady work, script: ${steady}}
      - {intent: flaky work, script: ${flaky}, restart: transient}
  last: {intent: last, script: ${last}, depends_on: [team]}
`,
    )
    const outcomes = await cli.json('compose', 'up', file)
    expect(outcomes).toMatchObject([
      { name: 'first', state: 'done' },
      { name: 'team', state: 'done', pid: 2, result: 'steady done\n\nflaky done' },
      { name: 'last', state: 'done', result: 'all there' },
    ])
    const processes = await ps(cli, '--all')
    expect(processes[1]).toMatchObject({ pid: 2, ppid: 0, intent: 'team', provider: '', exit_code: 0 })
    const runs = processes.filter(({ ppid }) => ppid === 2)
    const flakyRuns = runs.filter(({ intent }) => intent.startsWith('flaky'))
    expect(flakyRuns.map(({ exit_code }) => exit_code)).toEqual([1, 0])
    expect(runs).toHaveLength(3)
    expect(await cli.ok('ps', '--all')).toMatch(/\n2 +0 +exit 0 +- +0 +\S+ +- +agent-\w+ +team\n/)
    expect(await cli.ok('logs', '2')).toMatch(
      /process \d ended: 1 EIO.*process \d started: flaky work\n.*ended: 0 completed/s,
    )
    const resumed = await cli.run(['resume', '2'])
    expect(resumed).toMatchObject({ code: 1, stderr: expect.stringContaining('had no model') })
  })

  it('gives up after too many restarts, and its dependents are skipped', async () => {
    const cli = new DaemonCli()
    const failing = cli.script({ expect: { intent: 'something else' }, say: 'never' })
    const file = composition(
      cli,
      `agents:
  team:
    strategy: one_for_all
    max_restarts: 1
    within: 600
    children: [{intent: fail, script: ${failing}}, {intent: wait, script: ${cli.script(slow)}}]
  last: {intent: last, script: ${failing}, depends_on: [team]}
`,
    )
    const { code, stdout } = await cli.run(['compose', 'up', file])
    expect(code).toBe(1)
    expect(stdout).toMatch(/^team {2}failed {3}1 +agent-\w+ +max_restarts_exceeded\nlast {2}skipped /)
    expect(stdout).toContain('\nteam failed; see coppice logs 1\n')
    const children = (await ps(cli, '--all')).filter(({ ppid }) => ppid === 1)
    expect(children.map(({ intent, state }) => [intent, state]).sort()).toEqual([
      ['fail', 'ended'],
      ['fail', 'ended'],
      ['wait', 'ended'],
      ['wait', 'ended'],
    ])
  })

  it('ends its children when it is killed', async () => {
    const cli = new DaemonCli()
    const script = cli.script(slow)
    const file = composition(
      cli,
      `agents:
  team:
    strategy: rest_for_one
    children: [{intent: one, script: ${script}, restart: permanent}, {intent: two, script: ${script}}]
`,
    )
    const composed = cli.run(['compose', 'up', file, '--json'])
    await vi.waitFor(async () => expect(await ps(cli)).toHaveLength(3), PATIENT)
    await cli.ok('kill', '1')
    const { code, stdout } = await composed
    expect([code, JSON.parse(stdout)]).toMatchObject([1, [{ state: 'failed', reason: 'stopped' }]])
    expect(await ps(cli)).toEqual([])
  })

  it('fails with the paths if its children changed the same lines', async () => {
    const cli = new DaemonCli()
    writeFileSync(join(cli.files, 'a.txt'), 'begin\n')
    const change = (text: string) => cli.script(write('a.txt', text), { say: text })
    const file = composition(
      cli,
      `agents:
  team:
    strategy: one_for_one
    children: [{intent: one, script: ${change('one\n')}}, {intent: two, script: ${change('two\n')}}]
`,
    )
    const { code, stdout } = await cli.run(['compose', 'up', file, '--json'])
    const reason = expect.stringMatching(/ECONFLICT.*\/a\.txt/)
    expect([code, JSON.parse(stdout)]).toMatchObject([1, [{ state: 'failed', reason }]])
  })
})
