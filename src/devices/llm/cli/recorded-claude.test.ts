import { mkdtemp, rm, writeFile } from 'node:fs/promises'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { describe, expect, it, onTestFinished } from 'vitest'
import { type DeviceContext, O_RDWR, sendDeviceRequest } from '../../../kernel/index.ts'
import { MemoryFs } from '../../../vfs/index.ts'
import { claudeDevice } from '../index.ts'

/** Sends a request to a program that prints what Claude Code 2.1.325 printed; `npm run real-agents` runs the real one. */
async function replay(recording: string, end: string, onText?: (text: string) => void): Promise<unknown> {
  const directory = await mkdtemp(join(tmpdir(), 'coppice-llm-'))
  onTestFinished(() => rm(directory, { recursive: true, force: true }))
  const executable = join(directory, 'claude')
  const file = join(import.meta.dirname, 'recorded', recording)
  await writeFile(executable, `#!/bin/sh\ncat '${file}'\n${end}\n`, { mode: 0o755 })
  const ctx: DeviceContext = {
    pid: 1,
    caller: { kind: 'system' },
    fs: new MemoryFs(),
    signal: new AbortController().signal,
    onText,
  }
  const device = claudeDevice({ executable, directory, env: { PATH: '/usr/bin:/bin' } })
  const conversation = await device.open('', O_RDWR, ctx)
  return JSON.parse(await sendDeviceRequest(conversation, { messages: [{ role: 'user', content: 'hello' }] }))
}

describe('the output of the real Claude Code', () => {
  it('streams its text in parts', async () => {
    const parts: string[] = []
    const response = await replay('claude-streamed-text.ndjson', 'exit 0', (text) => parts.push(text))
    expect(response).toEqual({ content: 'The first half, and the second.', tokens_used: 15 })
    expect(parts).toEqual(['The first half,', ' and the second.'])
  })

  it('is a temporary failure if the API failed, so that a process asks again', async () => {
    await expect(replay('claude-server-error.ndjson', 'exit 1')).rejects.toMatchObject({
      code: 'EUNAVAILABLE',
      detail: expect.stringContaining('API Error: 500'),
    })
  })

  it('is a temporary failure if the API cannot be reached', async () => {
    await expect(replay('claude-connection-refused.ndjson', 'exit 1')).rejects.toMatchObject({
      code: 'EUNAVAILABLE',
      detail: expect.stringContaining('ECONNREFUSED'),
    })
  })

  it('ends the program when it goes on repeating a request whose key is refused', async () => {
    await expect(replay('claude-refused-key.ndjson', 'sleep 600')).rejects.toMatchObject({
      code: 'EACCES',
      detail: expect.stringContaining('the API refuses its credentials (HTTP 401)'),
    })
  })
})
