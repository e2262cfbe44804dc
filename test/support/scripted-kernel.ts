import { onTestFinished } from 'vitest'
import { contextCaller } from '../../src/access/index.ts'
import {
  createJsonRequestFile,
  type Device,
  DeviceRegistry,
  Kernel,
  type KernelOptions,
  type ModelRequest,
  type StepRecord,
} from '../../src/kernel/index.ts'
import { MemoryFs } from '../../src/vfs/index.ts'

export type Say = (request: ModelRequest, signal: AbortSignal | undefined) => unknown

/** A model that says what the test has it say. */
function model(say: Say): Device {
  return {
    match: 'exact',
    open: () =>
      createJsonRequestFile('/dev/llm/test', async (request, signal) => {
        const content = await say(request as ModelRequest, signal)
        return typeof content === 'string' ? { content, tokens_used: 10 } : content
      }),
  }
}

const echo: Device = {
  match: 'prefix',
  tools: [
    {
      name: 'echo',
      description: 'Says it again.',
      inputSchema: { type: 'object' },
      request: (args) => ({ subpath: '/loud', body: args }),
    },
  ],
  open: (subpath) => createJsonRequestFile(`/dev/echo${subpath}`, async (request) => ({ subpath, request })),
}

export interface Scene {
  readonly kernel: Kernel
  readonly steps: StepRecord[]
  readonly closed: number[]
}

export function scene(say: Say, options: Partial<KernelOptions> = {}): Scene {
  const devices = new DeviceRegistry()
  devices.register('/dev/llm/test', model(say))
  devices.register('/dev/echo', echo)
  const steps: StepRecord[] = []
  const closed: number[] = []
  const kernel = new Kernel({
    devices,
    createEnvironment: async (pid) => ({
      fs: new MemoryFs(),
      caller: contextCaller('anna'),
      close: async () => void closed.push(pid),
    }),
    steps: { write: async (_uuid, record) => void steps.push(record) },
    defaults: { provider: 'test' },
    ...options,
  })
  onTestFinished(() => kernel.shutdown())
  return { kernel, steps, closed }
}

/** A model that says these things one after another. */
export function script(...answers: unknown[]): Say {
  return () => answers.shift() ?? 'done'
}

export function call(tool: string, input: unknown): string {
  return JSON.stringify({ action: 'tool_call', tool, input })
}

/** Never, unless it is cancelled. */
export function until(signal: AbortSignal | undefined): Promise<never> {
  const { promise, reject } = Promise.withResolvers<never>()
  signal?.addEventListener('abort', () => reject(signal.reason))
  return promise
}
