import { existsSync, mkdirSync, readdirSync, readFileSync, writeFileSync } from 'node:fs'
import { join } from 'node:path'
import { describe, expect, it } from 'vitest'
import { openKernel } from '../../src/agent-kernel/index.ts'
import { readText } from '../../src/vfs/index.ts'
import { call, openScene, script } from '../support/agent-home.ts'

describe('the kernel of a home', () => {
  it('gives each process its own fork, which stays after its end', async () => {
    const { home, agents } = await openScene()
    const play = script(call('/dev/fs/notes.txt', { content: 'done\n' }), 'all done')
    const { pid, fork } = await agents.spawn({ intent: 'note', vault: 'base', script: play })
    const end = await agents.wait(pid)
    expect(end).toMatchObject({ state: 'ended', exit_code: 0, result: 'all done', fork, vault: 'base' })
    expect(await readText(await home.vault('base'), '/notes.txt')).toBe('begun\n')
    expect(await readText(await home.vault(fork ?? ''), '/notes.txt')).toBe('done\n')
  })

  it('leaves nothing of a process that cannot be started', async () => {
    const { home, agents } = await openScene()
    const before = await home.vaults()
    await expect(agents.spawn({ intent: 'x', vault: 'base', provider: 'nobody' })).rejects.toMatchObject({
      code: 'ENOENT',
    })
    expect(await home.vaults()).toEqual(before)
    expect(agents.ps(true)).toEqual([])
  })

  it('ends a process at once if the program of its provider is not installed', async () => {
    const { agents } = await openScene({ PATH: '/nowhere' })
    const { pid } = await agents.spawn({ intent: 'x', provider: 'claude' })
    expect(await agents.wait(pid)).toMatchObject({
      state: 'ended',
      exit_code: 1,
      reason: expect.stringMatching(/^ENOENT: 'claude' cannot be started .*npm install -g @anthropic-ai/),
    })
  })

  it('shows the same devices to processes by path and as files', async () => {
    const { agents } = await openScene()
    const play = script(call('vfs_list', { path: 'vfs:///workspace' }), call('/proc/self/intent'), 'over')
    const { pid } = await agents.spawn({ intent: 'look around', vault: 'base', script: play })
    await agents.wait(pid)
    const [, second] = await agents.steps(pid)
    expect(second).toMatchObject({ tool_path: '/proc/self/intent', tool_result: 'look around' })
    const names = await Array.fromAsync(agents.person.fs.readdir('/dev'), ({ name }) => name)
    expect(names).toEqual(expect.arrayContaining(['fs', 'llm', 'memory', 'shell', 'tasks', 'tty']))
  })

  it('lets a child continue the work of its parent in its own fork', async () => {
    const { home, agents } = await openScene()
    const text = `shared: true
script:
- {expect: {intent: lead}, say: {action: tool_call, tool: /dev/fs/a.txt, input: {content: one}}}
- {expect: {intent: lead}, say: {action: spawn, intent: help}}
- {expect: {intent: help}, say: {action: tool_call, tool: /dev/fs/a.txt}}
- {expect: {intent: help, last_message_contains: one}, say: {action: tool_call, tool: /dev/fs/b.txt, input: {content: two}}}
- {expect: {intent: help}, say: seen}
- {expect: {intent: lead, last_message_contains: seen}, say: over}
`
    const { pid, fork } = await agents.spawn({
      intent: 'lead',
      vault: 'base',
      script: { name: 'two.yaml', text },
    })
    expect(await agents.wait(pid)).toMatchObject({ exit_code: 0, result: 'over' })
    const child = agents.ps(true).find(({ ppid }) => ppid === pid)
    expect(child).toMatchObject({ intent: 'help', vault: fork, exit_code: 0 })
    expect(await readText(await home.vault(child?.fork ?? ''), '/b.txt')).toBe('two')
    expect(await (await home.vault(fork ?? '')).exists('/b.txt')).toBe(false)
  })

  it('recalls past processes, and lets a model summarize', async () => {
    const { directory, agents } = await openScene()
    const { pid } = await agents.spawn({ intent: 'remember', script: script('the harbour opens at nine') })
    await agents.wait(pid)
    const text = JSON.stringify({
      expect: { contains: ['harbour opens', 'Query: harbour'] },
      say: 'At nine.',
    })
    writeFileSync(join(directory, 'scripts/sum.ndjson'), text)
    const ask = { query: 'harbour', summarize: true }
    const { signal } = new AbortController()
    expect(await agents.call('/dev/memory/recall', ask, signal)).toMatchObject({ summary: 'At nine.' })
  })

  it('keeps secrets of the environment out of all records', async () => {
    const { directory, agents } = await openScene({ SERVICE_TOKEN: 'hush-hush-hush' })
    const play = script(call('/dev/tasks/task_create', { subject: 'hush-hush-hush' }), 'hush-hush-hush')
    const { pid } = await agents.spawn({ intent: 'keep hush-hush-hush', script: play })
    await agents.wait(pid)
    const { uuid } = agents.ps(true)[0] ?? { uuid: '' }
    const kept = [
      readFileSync(join(directory, 'data/processes.jsonl'), 'utf8'),
      readFileSync(join(directory, 'data/steps', uuid, 'steps.jsonl'), 'utf8'),
      JSON.stringify(await Array.fromAsync(agents.trace(pid, false, new AbortController().signal))),
      JSON.stringify(await Array.fromAsync(agents.logs(pid, false, new AbortController().signal))),
    ]
    for (const text of kept) expect(text).not.toContain('hush-hush')
    expect(kept.every((text) => text.includes('[redacted]'))).toBe(true)
  })

  it('removes leftovers of a killed program: code checkouts, and steps of forgotten processes', async () => {
    const { directory, home, agents } = await openScene()
    const { pid } = await agents.spawn({ intent: 'x', script: script('y') })
    const { uuid } = await agents.wait(pid)
    await agents.close()
    const [code, steps] = [join(directory, 'data/code/agent-1/tree'), join(directory, 'data/steps')]
    for (const left of [code, join(steps, '00000000-0000-7000-8000-000000000000')])
      mkdirSync(left, { recursive: true })
    await using next = await openKernel({ home, env: {}, commands: { env: {} }, person: 'tester' })
    expect(existsSync(code)).toBe(false)
    expect(readdirSync(steps)).toEqual([uuid])
    expect(await next.steps(pid)).toHaveLength(1)
  })

  it('shows the log and the trace of a process after a restart', async () => {
    const { home, agents } = await openScene()
    const play = script(call('vfs_list', { path: '/workspace' }), call('/dev/nothing', {}), 'all done')
    const { pid } = await agents.spawn({ intent: 'look around', vault: 'base', script: play })
    await agents.wait(pid)
    await agents.close()
    await using next = await openKernel({ home })
    const { signal } = new AbortController()
    const log = await Array.fromAsync(next.logs(pid, true, signal))
    expect(log.map((line) => 'text' in line && line.text)).toEqual([
      'begins: look around',
      'step 1: vfs_list /workspace',
      expect.stringMatching(/^step 2: \/dev\/nothing: ENOENT: there is no such device; .{80,100}…$/),
      'step 3: completed',
      'ended: 0 completed',
    ])
    const trace = await Array.fromAsync(next.trace(pid, true, signal))
    const calls = trace.flatMap((line) => ('call' in line && line.call === 'tool' ? [line] : []))
    expect(calls).toMatchObject([
      { args: ['"/dev/fs"', expect.stringContaining('list')], result: '"notes.txt"', error: null },
      { args: ['"/dev/nothing"', '"{}"'], error: expect.stringContaining('ENOENT') },
    ])
    await expect(next.logs(99, false, signal).next()).rejects.toMatchObject({ code: 'ENOENT' })
    await expect(next.trace(99, false, signal).next()).rejects.toMatchObject({ code: 'ENOENT' })
  })

  it('knows after a kill which processes ran, and reuses no number', async () => {
    const { directory, home, agents } = await openScene()
    const play = { name: 'slow.yaml', text: '- say: late\n  delay_ms: 60000\n' }
    const { pid, fork } = await agents.spawn({ intent: 'wait', vault: 'base', script: play })
    // State after a kill: the file at this moment.
    const left = readFileSync(join(directory, 'data/processes.jsonl'), 'utf8')
    agents.kill(pid, 'SIGKILL')
    expect(await agents.wait(pid)).toMatchObject({ exit_code: 1, reason: 'killed: SIGKILL' })
    await agents.close()
    writeFileSync(join(directory, 'data/processes.jsonl'), `${left}{"pid": 99, "cut`)
    await using next = await openKernel({ home, env: {}, commands: { env: {} }, person: 'tester' })
    expect(next.ps(true)).toMatchObject([{ pid, state: 'lost', fork, exit_code: 1 }])
    expect(await home.vaults()).toContain(fork)
    const again = await next.spawn({ intent: 'x', script: script('y') })
    expect(again.pid).toBe(pid + 1)
    await next.wait(again.pid)
  })
})
