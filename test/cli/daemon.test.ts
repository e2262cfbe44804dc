import { execFileSync } from 'node:child_process'
import { existsSync, readFileSync, realpathSync, statSync, writeFileSync } from 'node:fs'
import { join } from 'node:path'
import { describe, expect, it, onTestFinished, vi } from 'vitest'
import { startDaemon } from '../../src/daemon/index.ts'
import { users } from '../support/users.ts'
import { DaemonCli } from './daemon-cli.ts'

const slow = { say: 'late', delay_ms: 600_000 }
/** A model whose second conversation writes `good`, and the others `bad`. */
const GUESSER = `
let conversations = 0
const open = () => {
  const content = ++conversations === 2 ? 'good' : 'bad'
  let response = ''
  const answer = ({ messages }) => messages.length > 1
    ? { content: content, tokens_used: 1 }
    : { content: '', tool_calls: [{ id: '1', name: 'write_file', input: { path: 'a.txt', content } }] }
  return {
    write: async (bytes) => { response = JSON.stringify(answer(JSON.parse(Buffer.from(bytes)))) },
    read: async () => { const bytes = Buffer.from(response); response = ''; return bytes },
    close: async () => {},
    stat: async () => ({ size: 0, modified: new Date() }),
  }
}
export default { providers: { guesser: { match: 'exact', open } } }
`
const call = (tool: string, input?: unknown) => ({ say: { action: 'tool_call', tool, input } })

describe('coppice spawn and the daemon', () => {
  it('works in a fork whose changes can be shown and merged', async () => {
    const cli = new DaemonCli()
    await cli.ok('vault', 'create', 'base')
    const script = cli.script(call('/dev/fs/a.txt', { content: 'by an agent\n' }), {
      say: 'Done.',
      tokens: 7,
    })
    const output = await cli.ok('spawn', 'write a file', '--vault', 'base', '--script', script, '--follow')
    expect(output).toMatch(
      /runs \/dev\/fs\/a\.txt\n.*step 1: \/dev\/fs\/a\.txt\n.*completed\n.*ended: 0 completed\nDone\.\n$/s,
    )
    const [{ fork, pid }] = JSON.parse(await cli.ok('ps', '--all', '--json'))
    expect(await cli.ok('diff', '--vault', fork)).toContain('a.txt')
    expect(await cli.ok('merge', fork)).toContain('a.txt')
    expect(await cli.ok('cat', '/a.txt', '--vault', 'base')).toBe('by an agent\n')
    expect(await cli.ok('wait', String(pid))).toBe('Done.\n')
    expect(await cli.ok('strace', String(pid))).toMatch(/open\("\/dev\/fs\/a\.txt", 2\) = \d+ <[\d.]+ms>/)
    expect(await cli.ok('logs', String(pid))).toContain('step 2: completed')
    expect(await cli.json('steps', String(pid), '1')).toMatchObject({
      tool_path: '/dev/fs/a.txt',
      tool_error: '',
    })
    expect(await cli.ok('spawn', 'again', '--script', script)).toMatch(/^process 2 runs in agent-/)
  })

  it('names paths that several processes change', async () => {
    const cli = new DaemonCli()
    writeFileSync(join(cli.files, 'a.txt'), 'one\n')
    const change = (name: string) =>
      cli.script(call(`/dev/fs/${name}`, { content: 'new\n' }), call('/dev/fs/both', { content: 'x' }), {
        say: 'Done.',
      })
    for (const name of ['a.txt', 'b.txt']) await cli.ok('spawn', name, '--script', change(name), '--follow')
    const listed: { fork: string; shared: unknown }[] = JSON.parse(await cli.ok('ps', '--all', '--json'))
    const [one, other] = listed
    expect(listed.map(({ shared }) => shared)).toEqual([
      [{ path: '/both', forks: [other?.fork] }],
      [{ path: '/both', forks: [one?.fork] }],
    ])
    expect(await cli.ok('ps', '--all')).toContain(`\n  /both also in ${other?.fork}\n`)
  })

  it.for(users)(
    'works in a fork of the directory without a vault, which is applied and undone, as $name',
    async ({ user, obstacle }, { skip }) => {
      if (obstacle !== undefined) skip(obstacle)
      const cli = new DaemonCli(user)
      writeFileSync(join(cli.files, 'a.txt'), 'one\n')
      writeFileSync(join(cli.files, '.env'), 'API_KEY=sk-live-51Hx9aBcDeFgHiJkLm\n')
      if (user !== undefined) execFileSync('chown', ['-R', `${user}:${user}`, cli.files])
      const script = cli.script(
        call('/dev/fs/a.txt', { content: 'by an agent\n' }),
        call('/dev/shell', { command: 'cat a.txt .env; echo made > made.txt' }),
        { say: 'Done.' },
      )
      await cli.ok('spawn', 'write a file', '--script', script, '--follow')
      const steps = await cli.ok('steps', '1', '2', '--json')
      expect(steps).toContain('by an agent')
      expect(steps).toContain('API_KEY=')
      expect(steps).not.toContain('sk-live')
      const [{ fork, vault }] = JSON.parse(await cli.ok('ps', '--all', '--json'))
      expect(vault).toBe(realpathSync(cli.files))
      expect(await cli.ok('diff', fork, '--stat')).toContain('2 paths')
      const read = () => readFileSync(join(cli.files, 'a.txt'), 'utf8')
      expect(read()).toBe('one\n')
      await cli.ok('apply', fork)
      expect(read()).toBe('by an agent\n')
      await cli.ok('apply', '--undo')
      expect(read()).toBe('one\n')
      await cli.ok('drop', fork)
    },
  )

  it('shows questions below their process, and takes an answer for each', async () => {
    const cli = new DaemonCli()
    const questions = [{ question: 'Which name?', options: ['a', 'b'] }, { question: 'Why?' }]
    const ask = (asked: object[]) => call('ask_user', { questions: asked })
    const script = cli.script(ask(questions), ask(questions.slice(1)), { say: 'Done.' })
    await cli.ok('spawn', 'ask', '--script', script)
    await vi.waitFor(async () => {
      expect(await cli.ok('ps')).toContain('\n  asks: Which name? and 1 more; coppice answer 1 …\n')
    })
    const { code, stderr } = await cli.run(['answer', '1', 'a'])
    expect([code, stderr]).toEqual([2, expect.stringContaining('question 1 takes 2 answers, one for each')])
    expect(await cli.ok('answer', '1', '2', 'because of it')).toBe('answered question 1: b; because of it\n')
    await vi.waitFor(async () => {
      expect(await cli.ok('answer', '2', 'no', 'reason')).toBe('answered question 2: no reason\n')
    })
  })

  it('takes yes and no as the answers of an approval, and other words as neither', async () => {
    const cli = new DaemonCli()
    const curl = call('/dev/shell', { command: 'curl -sS --max-time 1 http://nowhere.invalid' })
    const script = cli.script(curl, curl, curl, { say: 'Done.' })
    await cli.ok('spawn', 'fetch', '--script', script)
    const errors: string[] = []
    for (const [index, words] of ['later', 'Yes', 'no'].entries()) {
      const id = String(index + 1)
      await vi.waitFor(async () => {
        expect(await cli.ok('answer')).toContain(
          `process 1 asks (${id}):\n  | Let this run once?\n  | why:\n`,
        )
      })
      expect(await cli.ok('answer', id, words)).toMatch(/^answered question \d: (?:later|yes, once|no)\n$/)
      await vi.waitFor(async () => {
        expect(JSON.parse(await cli.ok('steps', '1', '--json')).length).toBeGreaterThan(index)
      })
      errors.push(JSON.parse(await cli.ok('steps', '1', '--json'))[index].tool_error)
    }
    expect(errors[0]).toMatch(
      /a person dismissed the question without an answer; a person can let it run once with: coppice/,
    )
    expect(errors[1]).toBe('')
    expect(errors[2]).toContain('a person denied it; do not ask for the same again')
  })

  it('approves a command whose process still asks, and its question ends', async () => {
    const cli = new DaemonCli()
    const curl = call('/dev/shell', { command: 'curl -s --version > /dev/null; echo ran' })
    await cli.ok('spawn', 'fetch', '--script', cli.script(curl, { say: 'Done.' }))
    await vi.waitFor(async () => expect(await cli.ok('answer')).toContain('process 1 asks (1)'))
    const [, id = ''] = /^(\w+) {2}waits/.exec(await cli.ok('approve')) ?? []
    await cli.ok('approve', id)
    await cli.ok('wait', '1')
    const step = JSON.parse(await cli.ok('steps', '1', '1', '--json'))
    expect(JSON.parse(step.tool_result)).toMatchObject({ exit_code: 0, output: 'ran\n' })
    expect(await cli.ok('approve')).toBe('nothing waits for an approval\n')
    expect(await cli.ok('answer')).not.toContain('asks')
  })

  it('continues from a step, resumes, and takes a signal by either name', async () => {
    const cli = new DaemonCli()
    await cli.ok('vault', 'create', 'base')
    const script = cli.script(
      call('/dev/fs/a.txt', { content: 'one' }),
      call('/dev/fs/a.txt', { content: 'two' }),
      { say: 'Done.' },
    )
    await cli.ok('spawn', 'write', '--script', script, '--follow')
    const next = cli.script({ say: 'Other.' })
    const other = await cli.json('spawn', 'go another way', '--from', '1@1', '--script', next)
    await cli.ok('wait', '2')
    expect(await cli.ok('cat', '/a.txt', '--vault', (other as { fork: string }).fork)).toBe('one')
    expect(await cli.run(['spawn', 'x', '--from', 'one'])).toMatchObject({
      code: 2,
      stderr: expect.stringContaining('such as 3@5'),
    })
    await cli.ok('spawn', 'wait', '--script', cli.script(slow))
    await cli.ok('kill', '-s', 'SIGPAUSE', '3')
    expect(await cli.ok('resume', '3')).toBe('process 3 goes on\n')
    await cli.ok('kill', '-s', 'SIGKILL', '3')
    expect(await cli.run(['wait', '3'])).toMatchObject({ code: 1 })
  })

  it('runs several, and names the best by a check on a copy of its files', async () => {
    const cli = new DaemonCli()
    await cli.ok('vault', 'create', 'base')
    writeFileSync(join(cli.home, 'guesser.mjs'), GUESSER)
    writeFileSync(join(cli.home, 'config.toml'), '[processes]\nextensions = ["./guesser.mjs"]\n')
    const check = 'echo tried >> a.txt; grep -q good a.txt'
    const run = await cli.run([
      'spawn',
      'write it',
      '-n',
      '3',
      '--check',
      check,
      '--provider',
      'guesser',
      '--json',
    ])
    expect(run).toMatchObject({ code: 0 })
    const { best, attempts } = JSON.parse(run.stdout)
    expect(await cli.ok('cat', '/a.txt', '--vault', best)).toBe('good')
    expect(attempts.map((attempt: { check: { exit_code: number } }) => attempt.check.exit_code)).toEqual([
      0, 1, 1,
    ])
    expect((await cli.ok('vault', 'list')).match(/\bagent-/g)).toHaveLength(3)
    expect(await cli.run(['spawn', 'x', '--check', 'true'])).toMatchObject({ code: 2 })
  })

  it('names the best of several that have no workspace', async () => {
    const cli = new DaemonCli()
    for (const name of ['one', 'two']) await cli.ok('vault', 'create', name)
    // The directory of the user is no project, and none of the vaults is the current one.
    const env = { HOME: cli.files }
    const args = ['spawn', 'say it', '-n', '1', '--script', cli.script({ say: 'Done.' })]
    const run = await cli.run(args, { env })
    expect(run).toMatchObject({ code: 0, stdout: expect.stringContaining('best: process 1\n') })
  })

  it('reads devices byte for byte, and describes them', async () => {
    const cli = new DaemonCli()
    await cli.ok('daemon', 'start')
    const child = cli.start(['cat', '/dev/random'])
    child.stdin.end()
    const chunks = await Array.fromAsync(child.stdout)
    expect(Buffer.concat(chunks)).toHaveLength(64 * 1024)
    expect(await cli.ok('stat', '/dev/shell')).toMatch(/^type +device$/m)
    expect(await cli.run(['cat', '/dev'])).toMatchObject({
      code: 1,
      stderr: expect.stringContaining('/dev is a directory'),
    })
  })

  it('exits with the code of the process, or of an invalid request', async () => {
    const cli = new DaemonCli()
    expect((await cli.run(['ps'])).stderr).toContain('there is no home')
    const script = cli.script({ say: { action: 'plan', steps: ['x'] }, tokens: 10 }, { say: 'never' })
    const over = await cli.run(['spawn', 'spend', '--script', script, '--budget', '10', '--follow'])
    expect(over).toMatchObject({ code: 2, stderr: '' })
    expect(await cli.run(['wait', '1'])).toMatchObject({ code: 2, stdout: 'process 1: budget_exceeded\n' })
    expect(await cli.run(['wait', '9'])).toMatchObject({
      code: 1,
      stderr: expect.stringContaining('no process 9'),
    })
    for (const command of ['attach', 'logs', 'strace', 'steps', 'kill']) {
      const { code, stderr } = await cli.run([command, '9'])
      const message = 'coppice: there is no process 9; see coppice ps --all\n'
      expect([command, code, stderr]).toEqual([command, 1, message])
    }
    expect(await cli.run(['wait', 'one'])).toMatchObject({
      code: 2,
      stderr: expect.stringContaining('number'),
    })
    const nobody = await cli.run(['spawn', 'x', '--agent', 'nobody'])
    expect(nobody).toMatchObject({ code: 1, stderr: expect.stringContaining('code-reviewer') })
  })

  it('starts one daemon for concurrent commands, with a private socket', async () => {
    const cli = new DaemonCli()
    await cli.ok('vault', 'create', 'base')
    const all = await Promise.all([1, 2, 3].map(() => cli.json('daemon', 'start')))
    const pids = all.map((status) => Object(status).pid)
    expect(new Set(pids).size).toBe(1)
    expect(statSync(join(cli.home, 'run')).mode & 0o777).toBe(0o700)
    expect(statSync(join(cli.home, 'run/daemon.sock')).mode & 0o777).toBe(0o600)
    expect(await cli.ok('daemon', 'stop')).toBe('stopped\n')
    expect(await cli.json('daemon', 'status')).toEqual({ running: false })
    expect(existsSync(join(cli.home, 'run/daemon.sock'))).toBe(false)
  })

  it('replaces a daemon of another build, but none with processes', async () => {
    const cli = new DaemonCli()
    await cli.ok('vault', 'create', 'base')
    const options = {
      home: cli.home,
      socket: join(cli.home, 'run/daemon.sock'),
      version: '0.0.9',
      idleMs: null,
      commands: { env: {} },
      env: {},
      person: 'tester',
    }
    // Creates the directory of the socket.
    await cli.ok('daemon', 'status')
    const busy = await startDaemon(options)
    onTestFinished(() => busy.stop())
    const client = await cli.client()
    await client.call('spawn', { intent: 'wait', script: { name: 'a.ndjson', text: JSON.stringify(slow) } })
    const { stdout, stderr } = await cli.run(['ps'])
    expect(stdout).toContain('wait')
    expect(stderr).toContain('another build of Coppice, version 0.0.9, with 1 process, and may fail;')
    expect(stderr).toContain('coppice daemon stop')
    await client.call('kill', { pid: 1, signal: 'SIGKILL' })
    await client.call('wait', { pid: 1 })
    const { stderr: silent } = await cli.run(['ps'])
    expect(silent).toBe('')
    await busy.closed
    expect(await cli.json('daemon', 'status')).toMatchObject({
      running: true,
      idle_ms: null,
      build: expect.any(String),
    })
  })

  it('stops with its processes on a signal', async () => {
    const cli = new DaemonCli()
    await cli.ok('spawn', 'wait', '--script', cli.script(slow))
    const client = await cli.client()
    process.kill((await client.call('status', {})).pid, 'SIGTERM')
    await client.closed
    const { code, stdout } = await cli.run(['wait', '1'])
    expect([code, stdout]).toEqual([1, 'process 1: killed: shutdown\n'])
  })

  it('reports lost processes after kill -9, and keeps everything else', async () => {
    const cli = new DaemonCli()
    await cli.ok('vault', 'create', 'base')
    const script = cli.script(call('/dev/fs/half.txt', { content: 'half' }), slow)
    await cli.ok('spawn', 'be interrupted', '--script', script)
    const client = await cli.client()
    const ask = (path: string, request: object) => client.call('call', { path, request })
    await ask('/dev/tasks', { op: 'task_create', subject: 'survive' })
    await ask('/dev/memory/commit', { action: 'add', content: 'tests run with npm test' })
    await ask('/dev/cron', { op: 'cron_create', schedule: '0 9 * * *', intent: 'good morning' })
    await expect.poll(() => client.call('list_steps', { pid: 1 })).toHaveLength(1)
    process.kill((await client.call('status', {})).pid, 'SIGKILL')
    await client.closed
    const [lost] = JSON.parse(await cli.ok('ps', '--all', '--json'))
    expect(lost).toMatchObject({ pid: 1, state: 'lost', exit_code: 1 })
    expect(await cli.ok('cat', '/half.txt', '--vault', lost.fork)).toBe('half')
    expect(await cli.ok('steps', '1')).toContain('/dev/fs/half.txt')
    expect(await cli.ok('tasks', 'list')).toContain('survive')
    expect(await cli.ok('memory', 'show')).toBe('- tests run with npm test\n')
    expect(await cli.ok('cron', 'list')).toContain('good morning')
    expect(await cli.ok('memory', 'recall', 'unheard')).toBe('nothing was found\n')
    expect(await cli.json('memory', 'recall', 'unheard')).toEqual([])
    expect((await cli.run(['memory', 'remove', 'unheard'])).stderr).toContain(
      '; coppice memory show shows all',
    )
    const { stderr } = await cli.run(['tasks', 'update', '9', '--owner', 'me'])
    expect(stderr).toContain('there is no task "9"; see coppice tasks list')
    expect(await cli.run(['tasks', 'update', '1'])).toMatchObject({ code: 2, stdout: '' })
  })

  it('writes to devices, prints their responses, and stores nothing in the vault', async () => {
    const cli = new DaemonCli()
    await cli.ok('vault', 'create', 'base')
    expect(await cli.ok('write', '/dev/null', '--text', 'anything')).toBe('')
    const made = await cli.run(['write', 'dev/tasks/task_create'], { input: '{"subject": "ship it"}' })
    expect(made).toMatchObject({ code: 0, stdout: expect.stringContaining('ship it') })
    expect(await cli.ok('tasks', 'list')).toContain('ship it')
    for (const [path, problem] of [
      ['/proc/mounts', 'this file is read-only'],
      ['/dev/nothing', 'there is no such device'],
    ] as const) {
      const { code, stderr } = await cli.run(['write', path, '--text', 'x'])
      expect([code, stderr]).toEqual([1, expect.stringContaining(problem)])
    }
    expect(await cli.ok('ls', '/', '--vault', 'base')).toBe('')
  })

  it('finds devices, and removes none, also where several vaults exist', async () => {
    const cli = new DaemonCli()
    for (const vault of ['base', 'other']) await cli.ok('vault', 'create', vault)
    const found = (await cli.ok('find', '/dev')).split('\n')
    expect(found).toEqual(expect.arrayContaining(['/dev/null', '/dev/tasks', '/dev/tasks/task_list']))
    expect(await cli.ok('find', '/dev', '--name', 'nul*')).toBe('/dev/null\n')
    expect(await cli.json('find', '/dev', '--name', 'null')).toMatchObject([
      { path: '/dev/null', type: 'device' },
    ])
    for (const args of [
      ['rm', '/dev/null'],
      ['mkdir', '/dev/x'],
      ['mv', '/dev/null', '/x'],
      ['cp', '/proc/mounts', '/x'],
    ]) {
      const { code, stderr } = await cli.run([...args, '--json'])
      expect([code, JSON.parse(stderr)], args.join(' ')).toEqual([
        1,
        {
          error: {
            code: 'EPERM',
            message: expect.stringContaining(' belongs to the daemon; '),
            path: args[1],
          },
        },
      ])
    }
  })

  it('refuses a process that cannot start, in the words of the command line', async () => {
    const cli = new DaemonCli()
    await cli.ok('vault', 'create', 'base')
    for (const [args, problem] of [
      [[''], '<intent> is empty; describe the task for the agent'],
      [['x', '--max-steps', '0'], '--max-steps takes a number of steps, 1 or more'],
      [['x', '--from', 'x'], "--from takes a process and a step, such as 3@5, not 'x'"],
      [['x', '--provider', ''], '--provider is empty; name one'],
      [
        ['x', '--provider', 'script'],
        '--provider script replays a file of responses; name it with --script FILE',
      ],
      [['x', '--skills', 'a,,b'], "--skills takes names, separated by commas, not 'a,,b'"],
      [
        ['x', '--groups', 'a,1'],
        "--groups takes names of letters, digits, _, . and -, a letter first, not '1'",
      ],
    ] as const)
      expect(await cli.run(['spawn', ...args])).toEqual({
        code: 2,
        stdout: '',
        stderr: `coppice: ${problem}\n`,
      })
    const unknown = await cli.run(['spawn', 'x', '--provider', 'nosuch', '--vault', 'base'])
    expect(unknown).toMatchObject({
      code: 1,
      stderr: expect.stringMatching(/^coppice: there is no provider 'nosuch'; there are: .*claude.*\n$/),
    })
    expect(await cli.run(['spawn', 'x', '--provider', 'script', '--model', 'no', '--follow'])).toMatchObject({
      code: 1,
      stdout: expect.stringMatching(
        /\nprocess 1: ENOENT: there is no script 'no'; there are none \(\/dev\/llm\/script\/no\)\n$/,
      ),
    })
    const script = join(cli.files, 'bad.yaml')
    writeFileSync(script, '- sya: hi\n')
    expect(await cli.run(['spawn', 'x', '--script', 'bad.yaml', '--vault', 'base'])).toMatchObject({
      code: 1,
      stderr: "coppice: bad.yaml: line 1: there is no key 'sya'; there are: expect, say, tokens, delay_ms\n",
    })
  })

  it('kills and pauses processes', async () => {
    const cli = new DaemonCli()
    const script = cli.script(slow)
    await cli.ok('spawn', 'wait', '--script', script)
    await cli.ok('kill', '--signal', 'PAUSE', '1')
    expect(await cli.ok('top', '--once')).toMatch(/1 +0 +paused/)
    expect(await cli.ok('ls', '/proc/1')).toContain('status\n')
    expect(JSON.parse(await cli.ok('cat', '/proc/1/status'))).toMatchObject({ pid: 1, intent: 'wait' })
    await cli.ok('kill', '-s', 'KILL', '1')
    expect(await cli.run(['wait', '1'])).toMatchObject({ code: 1, stdout: 'process 1: killed: SIGKILL\n' })
    for (const args of [
      ['kill', '1'],
      ['message', '1', 'go on'],
    ])
      expect(await cli.run(args)).toMatchObject({
        code: 1,
        stderr: expect.stringContaining('process 1 has ended'),
      })
  })

  it('signals all processes of a group', async () => {
    const cli = new DaemonCli()
    const script = cli.script(slow)
    await cli.ok('spawn', 'one', '--script', script, '--groups', 'team')
    await cli.ok('spawn', 'two', '--script', script, '--groups', 'night, team')
    await cli.ok('spawn', 'three', '--script', script)
    expect(JSON.parse(await cli.ok('kill', '--group', 'team', '-s', 'PAUSE', '--json')).pids).toEqual([1, 2])
    expect(JSON.parse(await cli.ok('ps', '--json'))).toMatchObject([
      { pid: 1, state: 'paused', groups: ['team'] },
      { pid: 2, state: 'paused', groups: ['night', 'team'] },
      { pid: 3, state: 'running', groups: [] },
    ])
    await cli.ok('kill', '--group', 'team')
    for (const pid of ['1', '2']) expect((await cli.run(['wait', pid])).code).toBe(1)
    expect(await cli.run(['kill', '--group', 'team'])).toMatchObject({
      code: 1,
      stderr: expect.stringContaining("there is no group 'team'"),
    })
    expect((await cli.run(['kill'])).stderr).toContain('name the numbers of processes, or a --group')
    expect(await cli.run(['spawn', 'x', '--groups', '3'])).toMatchObject({
      code: 2,
      stderr: expect.stringContaining('--groups takes names of letters'),
    })
    await cli.ok('kill', '3')
  })

  it('sends a text to a process, which reads it and logs it', async () => {
    const cli = new DaemonCli()
    const script = cli.script(call('/dev/children/messages', { wait: true }), { say: 'Understood.' })
    await cli.ok('spawn', 'wait for word', '--script', script)
    await cli.ok('message', '1', 'skip the slow tests')
    expect(await cli.ok('wait', '1')).toBe('Understood.\n')
    expect(await cli.json('steps', '1', '1')).toMatchObject({
      tool_result: expect.stringContaining('skip the slow tests'),
    })
    expect(await cli.ok('logs', '1')).toMatch(/message of .*: skip the slow tests/)
    expect(await cli.run(['message', '1', 'too late'])).toMatchObject({
      code: 1,
      stderr: expect.stringContaining('process 1'),
    })
  })

  it('keeps secrets of its environment out of records and logs', async () => {
    const cli = new DaemonCli()
    const secret = 'opaque-value-of-a-token'
    const script = cli.script(call('/dev/null', { secret }), { say: secret })
    await cli.run(['spawn', `use ${secret}`, '--script', script, '-f'], { env: { MY_API_TOKEN: secret } })
    const [{ uuid }] = JSON.parse(await cli.ok('ps', '-a', '--json'))
    const files = ['data/processes.jsonl', 'data/daemon.log', `data/steps/${uuid}/steps.jsonl`]
    for (const file of files) expect(readFileSync(join(cli.home, file), 'utf8')).not.toContain(secret)
    expect(await cli.ok('strace', '1')).not.toContain(secret)
  })
})

describe('coppice demo', () => {
  it('lets a lead, two children and a reviewer repair a project, and leaves nothing behind', async () => {
    const cli = new DaemonCli()
    const scenes = JSON.parse(await cli.ok('demo', '--json'))
    expect(scenes).toHaveLength(7)
    expect(scenes[0].result.match(/running/g)).toHaveLength(3)
    expect(scenes[1].result).toMatch(/ECONFLICT.*README\.md/s)
    expect(scenes[5].result).toMatch(/costs 0\n.*a receipt\n.*Approved/s)
    expect(scenes.at(-1).result.match(/exit 0/g)).toHaveLength(5)
  })
})
