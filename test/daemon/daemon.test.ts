import { mkdtempSync, rmSync, statSync, writeFileSync } from 'node:fs'
import { connect } from 'node:net'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { describe, expect, it, onTestFinished } from 'vitest'
import { DaemonClient } from '../../src/daemon/client/index.ts'
import { type Daemon, startDaemon } from '../../src/daemon/index.ts'

interface Scene {
  readonly home: string
  readonly socket: string
  readonly daemon: Daemon
  client(): Promise<DaemonClient>
}

function optionsIn(home: string, idleMs: number | null = null) {
  const commands = { env: { PATH: process.env['PATH'] ?? '' } }
  const socket = join(home, 'd.sock')
  return { home, socket, idleMs, commands, env: {}, person: 'tester', version: '1.2.3' }
}

async function scene({ idleMs = null }: { idleMs?: number | null } = {}): Promise<Scene> {
  const home = mkdtempSync(join(tmpdir(), 'coppice-daemon-'))
  const options = optionsIn(home, idleMs)
  const { socket } = options
  const daemon = await startDaemon(options)
  onTestFinished(async () => {
    await daemon.stop()
    rmSync(home, { recursive: true, force: true })
  })
  const client = async () => {
    const opened = await DaemonClient.connect(socket)
    onTestFinished(() => opened.close())
    return opened
  }
  return { home, socket, daemon, client }
}

/** Sends raw lines, and reads as many responses. */
async function sent(socket: string, text: string, answers: number): Promise<unknown[]> {
  const raw = connect(socket)
  const lines: unknown[] = []
  let rest = ''
  raw.write(text)
  for await (const chunk of raw) {
    const parts = `${rest}${chunk}`.split('\n')
    rest = parts.pop() ?? ''
    lines.push(...parts.map((line) => JSON.parse(line)))
    if (lines.length >= answers) break
  }
  return lines
}

const slow = { name: 'slow.yaml', text: '- say: late\n  delay_ms: 600000\n' }
const quick = { name: 'quick.yaml', text: '- say: {action: plan, steps: [one]}\n  tokens: 5\n- say: done\n' }

describe('the daemon', () => {
  it('runs a process, and reports it any number of times', async () => {
    const client = await (await scene()).client()
    const { pid } = await client.call('spawn', { intent: 'do it', script: quick })
    const end = { pid, state: 'ended', exit_code: 0, result: 'done', tokens_used: 5 }
    expect(await client.call('wait', { pid })).toMatchObject(end)
    expect(await client.call('wait', { pid })).toMatchObject(end)
    expect(await client.call('ps', {})).toEqual([])
    expect(await client.call('ps', { all: true })).toMatchObject([end])
    expect(await client.call('list_steps', { pid })).toMatchObject([{ action: 'plan' }, { action: 'text' }])
    expect(await client.call('get_step_detail', { pid, step: 2 })).toMatchObject({ raw_response: 'done' })
    await expect(client.call('get_step_detail', { pid, step: 3 })).rejects.toMatchObject({ code: 'ENOENT' })
    await expect(client.call('kill', { pid })).rejects.toMatchObject({ code: 'ENOENT' })
    await expect(client.call('wait', { pid: 77 })).rejects.toMatchObject({ code: 'ENOENT' })
  })

  it('follows a process until it is reaped', async () => {
    const client = await (await scene()).client()
    const { pid } = await client.call('spawn', { intent: 'wait', script: slow })
    const logs = Array.fromAsync(client.stream('logs', { pid, follow: true }))
    const trace = Array.fromAsync(client.stream('strace', { pid, follow: true }))
    await client.call('status', {})
    await client.call('kill', { pid, signal: 'SIGKILL' })
    expect((await logs).at(-1)).toMatchObject({ pid, text: 'ended: 1 killed: SIGKILL' })
    const calls = (await trace).flatMap((line) => ('call' in line ? [line.call] : []))
    expect(calls).toEqual(expect.arrayContaining(['open', 'request', 'signal', 'ended']))
    const over = await Array.fromAsync(client.stream('strace', { pid, follow: true }))
    expect(over.length).toBe(calls.length)
  })

  it('answers an invalid request with an error, and keeps serving everybody', async () => {
    const { socket, client } = await scene()
    const other = await client()
    const lines = [
      'no json',
      '[]',
      '{"v":2,"id":4,"method":"ps"}',
      '{"v":1,"method":"ps"}',
      '{"v":1,"id":5}',
      '{"v":1,"id":6,"method":"fly"}',
      '{"v":1,"id":7,"method":"kill","params":{"pid":"one"}}',
      '{"v":1,"id":8,"method":"ps","params":{}}',
    ]
    const answers = await sent(socket, lines.map((line) => `${line}\n`).join(''), lines.length)
    const byId = new Map(answers.map((answer) => [JSON.stringify(answer).match(/"id":(\w+)/)?.[1], answer]))
    expect(byId.get('4')).toMatchObject({
      error: { code: 'EINVAL', detail: expect.stringContaining('version 1') },
    })
    expect(byId.get('6')).toMatchObject({ error: { detail: expect.stringContaining('no method "fly"') } })
    expect(byId.get('7')).toMatchObject({ error: { detail: expect.stringContaining("'pid'") } })
    expect(byId.get('8')).toEqual({ id: 8, result: [] })
    expect(answers.filter((answer) => 'error' in Object(answer))).toHaveLength(7)
    expect(await other.call('status', {})).toMatchObject({ version: '1.2.3', processes: 0 })
  })

  it('disconnects a client whose line has no end', async () => {
    const { socket, client } = await scene()
    const answers = await sent(socket, 'x'.repeat(9 * 1024 * 1024), 1)
    expect(answers).toMatchObject([{ id: null, error: { code: 'EINVAL' } }])
    expect(await (await client()).call('ps', {})).toEqual([])
  })

  it('continues when a client disconnects before its responses', async () => {
    const { socket, client } = await scene()
    const other = await client()
    for (let round = 0; round < 5; round++) {
      const raw = connect(socket)
      const asks = Array.from(
        { length: 200 },
        (_, id) => `{"v":1,"id":${id},"method":"ls","params":{"path":"/dev"}}\n`,
      )
      raw.write(asks.join(''), () => raw.destroy())
      expect(await other.call('ps', {})).toEqual([])
    }
    await expect.poll(async () => (await other.call('status', {})).clients).toBe(1)
  })

  it('does not wait for a client that reads nothing', async () => {
    const { socket, client } = await scene()
    const deaf = connect(socket)
    onTestFinished(() => void deaf.destroy())
    deaf.pause()
    deaf.write('{"v":1,"id":1,"method":"strace","params":{"follow":true}}\n')
    const other = await client()
    await expect.poll(async () => (await other.call('status', {})).clients).toBe(2)
    for (let round = 0; round < 20; round++) {
      const { pid } = await other.call('spawn', { intent: 'x'.repeat(50_000), script: quick })
      expect(await other.call('wait', { pid })).toMatchObject({ exit_code: 0 })
    }
  })

  it('ends the streams of a client that disconnects', async () => {
    const { client, daemon } = await scene()
    const leaving = await client()
    const { pid } = await leaving.call('spawn', { intent: 'wait', script: slow })
    const attached = leaving.stream('attach', {})
    void attached.next().catch(() => {})
    const waiting = leaving.call('wait', { pid })
    leaving.close()
    await expect(waiting).rejects.toMatchObject({ code: 'EUNAVAILABLE' })
    const other = await client()
    await expect.poll(() => daemon.status().clients).toBe(1)
    expect(await other.call('ps', {})).toMatchObject([{ pid, state: 'running' }])
  })

  it('keeps a question while nobody is attached, and wakes the process with the answer', async () => {
    const { client } = await scene()
    const other = await client()
    const asking = {
      name: 'ask.yaml',
      text: '- say: {action: tool_call, tool: ask_user, input: {questions: [{question: "Why?"}]}}\n- say: over\n',
    }
    const { pid } = await other.call('spawn', { intent: 'ask', script: asking })
    await expect.poll(() => other.call('questions', {})).toMatchObject([{ pid }])
    const [asked] = await other.call('questions', {})
    await other.call('answer', { id: asked?.id ?? '', answers: ['because'] })
    await other.call('wait', { pid })
    expect(await other.call('get_step_detail', { pid, step: 1 })).toMatchObject({
      tool_result: expect.stringContaining('because'),
    })
  })

  it('passes questions of processes to an attached client, and the answers back', async () => {
    const { client } = await scene()
    const person = await client()
    const asking = {
      name: 'ask.yaml',
      text: `- say: {action: tool_call, tool: ask_user, input: {questions: [{question: "Why?"}]}}
- expect: {last_message_contains: "because"}
  say: over
`,
    }
    const events = person.stream('attach', {})
    const first = events.next()
    await person.call('status', {})
    const { pid } = await person.call('spawn', { intent: 'ask', script: asking })
    const { value } = await first
    expect(value).toMatchObject({ asked: { pid, questions: [{ question: 'Why?' }] } })
    const [asked] = await person.call('questions', {})
    await person.call('answer', { id: asked?.id ?? '', answers: ['because'] })
    expect(await person.call('wait', { pid })).toMatchObject({ exit_code: 0, result: 'over' })
    expect((await events.next()).value).toEqual({ settled: asked?.id })
  })

  it('shows devices and processes as files, and calls devices', async () => {
    const client = await (await scene()).client()
    const { pid } = await client.call('spawn', { intent: 'be seen', script: slow })
    expect(await client.call('read', { path: `/proc/${pid}/intent` })).toContain('be seen')
    expect((await client.call('ls', { path: '/dev' })).map(({ name }) => name)).toContain('tasks')
    await client.call('call', { path: '/dev/tasks', request: { op: 'task_create', subject: 'rest' } })
    expect(await client.call('call', { path: '/dev/tasks', request: { op: 'task_list' } })).toMatchObject({
      tasks: [{ id: '1', subject: 'rest' }],
    })
    expect((await client.call('ls', { path: '/sys/tasks' })).map(({ name }) => name)).toContain('1.json')
  })

  it('is the only one of its home, and cleans up after a killed one', async () => {
    const { home, socket, daemon } = await scene()
    await expect(startDaemon(optionsIn(home))).rejects.toMatchObject({ code: 'EEXIST' })
    expect((await (await DaemonClient.connect(socket)).call('status', {})).pid).toBe(process.pid)
    expect(statSync(socket).mode & 0o777).toBe(0o600)
    await daemon.stop()
    await expect(DaemonClient.connect(socket)).rejects.toMatchObject({ code: 'EUNAVAILABLE' })
    writeFileSync(socket, '')
    await using again = await startDaemon(optionsIn(home))
    expect(again.status().processes).toBe(0)
    expect(await (await DaemonClient.connect(socket)).call('ps', {})).toEqual([])
  })

  it('stops on request, with its processes', async () => {
    const { client, daemon } = await scene()
    const one = await client()
    const { pid } = await one.call('spawn', { intent: 'wait', script: slow })
    const end = one.call('wait', { pid })
    await one.call('stop', {})
    await daemon.closed
    expect(await end).toMatchObject({ exit_code: 1, reason: 'killed: shutdown' })
  })

  it('stops when idle', async () => {
    const { client, daemon } = await scene({ idleMs: 500 })
    const one = await client()
    const { pid } = await one.call('spawn', { intent: 'x', script: quick })
    await one.call('wait', { pid })
    one.close()
    await daemon.closed
    await expect(client()).rejects.toMatchObject({ code: 'EUNAVAILABLE' })
  })
})
