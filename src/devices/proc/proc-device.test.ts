import { expect, it, onTestFinished } from 'vitest'
import {
  type DeviceContext,
  Kernel,
  O_RDONLY,
  O_RDWR,
  Redactor,
  readAllText,
  SnapshotFile,
  type StepRecord,
  sendDeviceRequest,
} from '../../kernel/index.ts'
import { MemoryFs } from '../../vfs/index.ts'
import { procDevice } from './index.ts'

const caller = { kind: 'system' } as const

const step: StepRecord = {
  step_number: 1,
  timestamp: '2026-01-02T03:04:05Z',
  messages: [{ role: 'user', content: 'hidden' }],
  tokens_used: 5,
  raw_response: '',
  action: 'plan',
  summary: 'plan',
  tool_path: '',
  tool_input: '',
  tool_result: '',
  tool_error: '',
}

/** Starts a kernel with one process that waits to be killed. */
async function scene(intent = 'think', redactor?: Redactor) {
  const kernel = new Kernel({
    createEnvironment: async () => ({ fs: new MemoryFs(), caller, close: async () => {} }),
  })
  onTestFinished(() => kernel.shutdown())
  const pid = await kernel.processes.spawn(intent, {
    program: ({ signal }) =>
      new Promise((resolve) => {
        signal.addEventListener('abort', () => resolve({ code: 1, reason: 'killed' }))
      }),
  })
  const asked: string[] = []
  const device = procDevice(kernel, {
    steps: async (uuid) => {
      asked.push(uuid)
      return [redactor === undefined ? step : { ...step, tool_error: 'no hush-hush-hush' }]
    },
    mounts: () => ['/workspace vault'],
    ...(redactor !== undefined && { redactor }),
  })
  kernel.devices.register('/proc', device)
  const ctx = (of: number): DeviceContext => ({
    pid: of,
    caller,
    fs: new MemoryFs(),
    signal: new AbortController().signal,
  })
  const read = async (subpath: string, of = pid) => readAllText(await device.open(subpath, O_RDONLY, ctx(of)))
  return { kernel, pid, device, read, ctx, asked }
}

it('shows a process as a directory of files', async () => {
  const { kernel, pid, read, asked } = await scene()
  expect(JSON.parse(await read('/1/status'))).toEqual({
    pid: 1,
    ppid: 0,
    state: 'running',
    intent: 'think',
    skills: [],
    tokens_used: 0,
    elapsed_ms: expect.any(Number),
    allowed_devices: null,
  })
  expect(await read('/1/intent')).toBe('think')
  expect(await read('/1/context')).toContain('user: think')
  const fd = await kernel.files.open(pid, '/proc/self/intent', O_RDONLY)
  expect(JSON.parse(await read('/1/fds'))).toEqual([{ fd, path: '/proc/self/intent' }])
  expect(JSON.parse(await read('/1/steps'))).toEqual({
    step_number: 1,
    timestamp: '2026-01-02T03:04:05Z',
    action: 'plan',
    summary: 'plan',
    tool_path: '',
    tool_error: '',
    tokens_used: 5,
  })
  expect(asked).toEqual([kernel.table.get(pid).uuid])
  expect(await read('/self/status')).toContain('"pid":1')
  expect(await read('/mounts')).toBe('/workspace vault\n')
})

it('shows the state at the time a file was opened', async () => {
  const { kernel, pid, device, ctx } = await scene()
  const file = await device.open('/1/status', O_RDONLY, ctx(pid))
  kernel.table.get(pid).tokensUsed = 99
  expect(JSON.parse(await readAllText(file)).tokens_used).toBe(0)
})

it('reveals no secret, and no part of one in shortened texts', async () => {
  const redactor = new Redactor()
  redactor.addSecrets(['hush-hush-hush', 'a secret\nof two lines'])
  const intent = `use hush-hush-hush and a secret\nof two lines`
  const { kernel, pid, read } = await scene(intent, redactor)
  const { contextId } = kernel.table.get(pid)
  for (let length = 0; length < 400; length += 9) {
    if (kernel.contexts.get(contextId).length < 60)
      kernel.contexts.appendMessage(contextId, 'user', `${'.'.repeat(length)}hush-hush-hush`)
  }
  kernel.devices.register('/dev/hush-hush-hush', {
    match: 'exact',
    open: async () => new SnapshotFile('/x', ''),
  })
  await kernel.files.open(pid, '/dev/hush-hush-hush', O_RDONLY)
  const texts = await Promise.all(
    ['status', 'intent', 'context', 'fds', 'steps'].map((file) => read(`/1/${file}`)),
  )
  for (const text of texts) {
    expect(text).toContain('[redacted]')
    expect(text).not.toMatch(/hush|two lines/)
  }
  expect(JSON.parse(texts[0] ?? '')).toMatchObject({ pid: 1, intent: 'use [redacted] and [redacted]' })
})

it('refuses all writes', async () => {
  const { device, ctx } = await scene()
  const file = await device.open('/1/status', O_RDWR, ctx(1))
  await expect(sendDeviceRequest(file, {})).rejects.toMatchObject({ code: 'EROFS' })
})

it.each([
  '/2/status',
  '/1/secrets',
  '/1/toString',
  '/0/status',
  '/x/status',
  '/01/status',
  '/1/status/x',
  '/x',
  '/-1/status',
])('there is no /proc%s', async (subpath) => {
  const { read } = await scene()
  await expect(read(subpath)).rejects.toMatchObject({ code: 'ENOENT' })
})

it('can be listed, with self for processes only', async () => {
  const { device, read, ctx } = await scene()
  const names = async (subpath: string, of: number) =>
    (await device.list?.(subpath, ctx(of)))?.map(({ name }) => name)
  expect(await names('', 1)).toEqual(['1', 'self', 'mounts'])
  expect(await names('', 0)).toEqual(['1', 'mounts'])
  expect(await names('/1', 0)).toEqual(['status', 'intent', 'context', 'fds', 'log', 'debug', 'steps'])
  await expect(names('/2', 0)).rejects.toMatchObject({ code: 'ENOENT' })
  for (const subpath of ['', '/1', '/self'])
    await expect(read(subpath)).rejects.toMatchObject({ code: 'EISDIR' })
  await expect(read('/self/status', 0)).rejects.toMatchObject({ code: 'ENOENT' })
})

it('shows the log of a process and its last calls, without their data', async () => {
  const { kernel, pid, read } = await scene()
  kernel.table.get(pid).log.push('a line of its log')
  const fd = await kernel.files.open(pid, '/proc/self/status', O_RDONLY)
  await kernel.files.read(pid, fd, 10)
  expect(await read('/1/log')).toBe('a line of its log\n')
  expect(await read('/1/debug')).toMatch(/^\d+\.\d{3} read \d+\.\d{2} ms$/m)
})
