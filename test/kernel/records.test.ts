import { mkdirSync, mkdtempSync, readdirSync, readFileSync, rmSync, statSync, writeFileSync } from 'node:fs'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { describe, expect, it, onTestFinished } from 'vitest'
import { Redactor, StepFiles, type StepRecord } from '../../src/kernel/index.ts'
import { call, scene, script } from '../support/scripted-kernel.ts'

function files(environment: Record<string, string> = {}): { steps: StepFiles; directory: string } {
  const directory = mkdtempSync(join(tmpdir(), 'coppice-steps-'))
  onTestFinished(() => rmSync(directory, { recursive: true, force: true }))
  return { steps: new StepFiles(directory, new Redactor(environment)), directory }
}

function recordOf(step_number: number, messages: StepRecord['messages']): StepRecord {
  const call = { tool_path: '', tool_input: '', tool_result: '', tool_error: '' }
  const said = { tokens_used: 1, raw_response: 'x', action: 'text', summary: 'x' }
  return { step_number, timestamp: '2026-01-01T00:00:00.000Z', messages: [...messages], ...said, ...call }
}

describe('step records', () => {
  it('contain request, response and actions, and outlive the process', async () => {
    const { steps, directory } = files()
    const { kernel } = scene(script(call('echo', { a: 1 }), 'the end'), { steps })
    const pid = await kernel.processes.spawn('try')
    const { uuid } = kernel.table.get(pid)
    await kernel.processes.wait(pid)
    const records = await new StepFiles(directory, new Redactor()).read(uuid)
    expect(records).toMatchObject([
      {
        step_number: 1,
        messages: [{ role: 'user', content: 'try' }],
        tokens_used: 10,
        action: 'tool_call',
        tool_path: '/dev/echo/loud',
        tool_input: '{"a":1}',
        tool_error: '',
      },
      { step_number: 2, raw_response: 'the end', action: 'text' },
    ])
    const file = join(directory, uuid, 'steps.jsonl')
    expect(statSync(file).mode & 0o777).toBe(0o600)
    writeFileSync(file, readFileSync(file, 'utf8').slice(0, -20))
    expect(await steps.read(uuid)).toHaveLength(1)
  })

  it('contain no secrets, of the environment or by their shape', async () => {
    const { steps, directory } = files({ OPENAI_API_KEY: 'very-secret-value', PATH: '/usr/bin:/bin' })
    const secrets = [
      'very-secret-value',
      'sk-abcdefghijklmnopqrstuvwx',
      `ghp_${'a'.repeat(36)}`,
      'AKIAABCDEFGHIJKLMNOP',
      'eyJhbGciOiJIUzI1NiJ9.eyJzdWIiOiIxIn0.c2lnbmF0dXJlc2ln',
    ]
    const { kernel } = scene(
      script(call('echo', { password: 'hunter2hunter2', secrets }), 'over /usr/bin:/bin'),
      {
        steps,
      },
    )
    const pid = await kernel.processes.spawn(`use ${secrets.join(' ')} and Bearer abcdefghijklmnop`)
    const { uuid } = kernel.table.get(pid)
    await kernel.processes.wait(pid)
    const text = readFileSync(join(directory, uuid, 'steps.jsonl'), 'utf8')
    for (const secret of [...secrets, 'hunter2hunter2', 'abcdefghijklmnop'])
      expect(text).not.toContain(secret)
    expect(text).toContain('[redacted]')
    expect(text).toContain('/usr/bin:/bin')
  })

  it.each(['a-', 'eyJ-', 'token', 'https://a:', '"password":', '-----BEGIN ', '\\"'])(
    'are written as fast for a long text of %j as for any other',
    (part) => {
      const redactor = new Redactor({ MY_TOKEN: '"\\"quoted"\\"' })
      expect(redactor.redactText(part.repeat(200_000))).not.toBe('')
    },
  )

  it('store each message once, also after the context dropped it, and are read completely', async () => {
    const { steps, directory } = files()
    const uuid = '00000000-0000-7000-8000-000000000001'
    const all = Array.from({ length: 200 }, (_, at) => ({
      role: 'user' as const,
      content: `message ${at} ${'x'.repeat(500)}`,
    }))
    const [first] = all
    const seen = (step: number) => [...(first ? [first] : []), ...all.slice(Math.max(1, step - 50), step + 1)]
    for (let step = 1; step < all.length; step++) await steps.write(uuid, recordOf(step, seen(step)))
    const text = readFileSync(join(directory, uuid, 'steps.jsonl'), 'utf8')
    expect(text.split('message 7 ')).toHaveLength(2)
    expect(text.length).toBeLessThan(all.length * 1000)
    const read = await new StepFiles(directory, new Redactor()).read(uuid)
    expect(read).toEqual(Array.from({ length: 199 }, (_, at) => recordOf(at + 1, seen(at + 1))))
  })

  it('repeat messages that a failed write may have lost', async () => {
    const { steps, directory } = files()
    const uuid = '00000000-0000-7000-8000-000000000002'
    const messages = [{ role: 'user' as const, content: 'one' }]
    await steps.write(uuid, recordOf(1, messages))
    rmSync(join(directory, uuid), { recursive: true })
    messages.push({ role: 'user', content: 'two' })
    await expect(steps.write(uuid, recordOf(2, messages))).rejects.toMatchObject({ code: 'ENOENT' })
    mkdirSync(join(directory, uuid))
    await steps.write(uuid, recordOf(3, messages))
    expect(await steps.read(uuid)).toEqual([recordOf(3, messages)])
  })

  it('of older versions, with all messages in each, can be read', async () => {
    const { steps, directory } = files()
    const uuid = '00000000-0000-7000-8000-000000000003'
    const old = [
      recordOf(1, [{ role: 'user', content: 'one' }]),
      recordOf(2, [{ role: 'user', content: 'two' }]),
    ]
    mkdirSync(join(directory, uuid))
    writeFileSync(join(directory, uuid, 'steps.jsonl'), old.map((one) => `${JSON.stringify(one)}\n`).join(''))
    expect(await steps.read(uuid)).toEqual(old)
  })

  it('of forgotten processes are removed, and nothing else', async () => {
    const { steps, directory } = files()
    const [kept, gone] = ['00000000-0000-7000-8000-000000000004', '00000000-0000-7000-8000-000000000005']
    for (const uuid of [kept, gone]) await steps.write(uuid, recordOf(1, []))
    mkdirSync(join(directory, 'not-a-process'))
    expect(await steps.sweep(new Set([kept]))).toBe(1)
    expect(readdirSync(directory).sort()).toEqual([kept, 'not-a-process'])
  })

  it('are refused for a name that is not a process', async () => {
    const { steps } = files()
    await expect(steps.read('../../etc')).rejects.toMatchObject({ code: 'EINVAL' })
    expect(await steps.read('00000000-0000-7000-8000-000000000000')).toEqual([] satisfies StepRecord[])
  })
})

describe('a context', () => {
  it('has a limit; a full one drops the oldest messages but the first', async () => {
    const lengths: number[] = []
    const firsts = new Set<string>()
    const { kernel } = scene(
      ({ messages }) => {
        lengths.push(messages.length)
        firsts.add(messages[0]?.content ?? '')
        return lengths.length < 30 ? call('echo', lengths.length) : 'done'
      },
      { defaults: { provider: 'test', contextSize: 16, maxSteps: 40 } },
    )
    expect(await kernel.processes.wait(await kernel.processes.spawn('the task'))).toMatchObject({ code: 0 })
    expect(Math.max(...lengths)).toBeLessThanOrEqual(16)
    expect(firsts).toEqual(new Set(['the task']))
  })

  it('keeps the task and the last messages of a conversation that it continues', () => {
    const { contexts } = scene(script()).kernel
    const conversation = ['task', 'two', 'three', 'last']
    const fill = (size: number) => {
      const context = contexts.get(contexts.ctxAlloc(size))
      context.fill(conversation.map((content) => ({ role: 'user', content })))
      return context.buildPrompt().messages.map(({ content }) => content)
    }
    expect(fill(8)).toEqual(conversation)
    expect(fill(4)).toEqual(['task', 'last'])
    expect(fill(2)).toEqual(['task'])
  })

  it('is written and read by number', () => {
    const { kernel } = scene(script())
    const { contexts } = kernel
    const id = contexts.ctxAlloc(2)
    contexts.ctxWrite(id, 0, '{"role":"user","content":"one"}')
    contexts.appendToolResult(id, 'call-1', 'two')
    expect(() => contexts.appendMessage(id, 'user', 'three')).toThrow('ENOSPC')
    contexts.ctxWrite(id, 1, '{"role":"user","content":"first"}')
    expect(JSON.parse(contexts.ctxRead(id))).toEqual([
      { role: 'user', content: 'first' },
      { role: 'tool', content: 'two', tool_call_id: 'call-1' },
    ])
    expect(() => contexts.ctxWrite(id, 3, '{"role":"user","content":""}')).toThrow('EINVAL')
    expect(() => contexts.ctxWrite(id, 0, 'nonsense')).toThrow('EINVAL')
    contexts.setSystemPrompt(id, 'be brief')
    expect(contexts.buildPrompt(id)).toMatchObject({ systemPrompt: 'be brief', messages: { length: 2 } })
    expect(contexts.getContextSummary(id)).toContain('2 of 2 messages')
    contexts.ctxFree(id)
    expect(() => contexts.ctxRead(id)).toThrow('ENOENT')
    expect(() => contexts.ctxAlloc(0)).toThrow('EINVAL')
  })
})
