import { randomUUID } from 'node:crypto'
import { mkdtempSync } from 'node:fs'
import { join } from 'node:path'
import { contextCaller } from '../../../src/access/index.ts'
import { procDevice } from '../../../src/devices/proc/index.ts'
import {
  type ContextMessage,
  createJsonRequestFile,
  type Device,
  DeviceFs,
  DeviceRegistry,
  Kernel,
  listen,
  Redactor,
  StepFiles,
  type StepRecord,
} from '../../../src/kernel/index.ts'
import { MemoryFs, readText } from '../../../src/vfs/index.ts'
import type { Recorder, Settings } from '../../harness/benchmark.ts'

const PROCESSES = 1000
const STEPS = 10
const MESSAGES = 64
const REPEATS = 200
const SECOND = 1000

/** Kernels whose models answer at once, or wait to be looked at. The steps stay until the end, as a home does. */
export async function measure(recorder: Recorder, { directory, isQuick }: Settings): Promise<void> {
  const place = mkdtempSync(join(directory, 'steps-'))
  const bench = new Bench(place, isQuick ? PROCESSES / 10 : PROCESSES)
  recorder.note('spawn', await bench.spawn())
  recorder.note('step', await bench.step())
  const stop = listen(() => {})
  recorder.note('traced', await bench.step())
  stop()
  recorder.note('status', await bench.status())
  recorder.note('bare', await bench.many())
  recorder.note('record', await bench.record(10))
  recorder.note('late record', await bench.record(10_000))
}

class Bench {
  readonly #place: string
  readonly #processes: number

  constructor(place: string, processes: number) {
    this.#place = place
    this.#processes = processes
  }

  /** From the call to the moment the model hears of it. */
  async spawn(): Promise<number> {
    let asked = 0
    const kernel = this.#kernel(() => {
      asked = performance.now()
      return 'done'
    })
    const times: number[] = []
    for (let turn = 0; turn < REPEATS; turn++) {
      const started = performance.now()
      const pid = await kernel.processes.spawn('measure')
      await kernel.processes.wait(pid)
      times.push(asked - started)
    }
    return median(times) / SECOND
  }

  /** Measures a turn with a full context, from response to request. */
  async step(): Promise<number> {
    const times: number[] = []
    let answered = 0
    const kernel = this.#kernel((messages) => {
      if (answered > 0 && messages >= MESSAGES - 8) times.push(performance.now() - answered)
      const say = times.length < REPEATS ? action(times.length + messages) : 'done'
      answered = performance.now()
      return say
    }, REPEATS * 2)
    await kernel.processes.wait(await kernel.processes.spawn('measure'))
    return median(times) / SECOND
  }

  async status(): Promise<number> {
    const kernel = this.#kernel((_messages, signal) => forever(signal))
    kernel.devices.register('/proc', procDevice(kernel))
    const pid = await kernel.processes.spawn('measure')
    const { caller, fs } = kernel.table.get(pid).spec
    const { signal } = new AbortController()
    const proc = new DeviceFs(kernel.devices, '/proc', () => ({ pid: 0, caller, fs, signal }))
    const times: number[] = []
    for (let turn = 0; turn < REPEATS * 5; turn++) {
      const started = performance.now()
      await readText(proc, `/${pid}/status`)
      times.push(performance.now() - started)
    }
    await kernel.shutdown()
    return median(times) / SECOND
  }

  async many(): Promise<number> {
    const kernel = this.#kernel((messages) => (messages < STEPS * 2 - 1 ? action(messages) : 'done'))
    const started = performance.now()
    const pids = await Promise.all(
      Array.from({ length: this.#processes }, (_, index) => kernel.processes.spawn(`measure ${index}`)),
    )
    await Promise.all(pids.map((pid) => kernel.processes.wait(pid)))
    return (performance.now() - started) / SECOND / (this.#processes * STEPS)
  }

  /** Records steps with two new messages each; those before do not count. */
  async record(before: number): Promise<number> {
    const files = new StepFiles(this.#place, new Redactor())
    const uuid = randomUUID()
    const messages: ContextMessage[] = []
    const times: number[] = []
    for (let step = 1; step <= before + REPEATS; step++) {
      messages.push({ role: 'assistant', content: action(step) }, { role: 'user', content: action(step) })
      if (messages.length > MESSAGES) messages.splice(1, 8)
      const started = performance.now()
      await files.write(uuid, createStep(step, [...messages]))
      if (step > before) times.push(performance.now() - started)
    }
    return median(times) / SECOND
  }

  #kernel(say: (messages: number, signal: AbortSignal | undefined) => unknown, maxSteps?: number): Kernel {
    const devices = new DeviceRegistry()
    devices.register('/dev/llm/bench', model(say))
    devices.register('/dev/echo', echo)
    return new Kernel({
      devices,
      createEnvironment: async () => ({
        fs: new MemoryFs(),
        caller: contextCaller('bench'),
        close: async () => {},
      }),
      steps: new StepFiles(this.#place, new Redactor()),
      defaults: { provider: 'bench', ...(maxSteps !== undefined && { maxSteps }) },
    })
  }
}

function model(say: (messages: number, signal: AbortSignal | undefined) => unknown): Device {
  const answer = async (request: unknown, signal: AbortSignal | undefined) => {
    const messages = isPrompt(request) ? request.messages.length : 0
    return { content: await say(messages, signal), tokens_used: 1 }
  }
  return { match: 'exact', open: () => createJsonRequestFile('/dev/llm/bench', answer) }
}

function createStep(number: number, messages: readonly ContextMessage[]): StepRecord {
  const texts = { tool_path: '/dev/echo', tool_input: '', tool_result: action(number), tool_error: '' }
  const answer = { tokens_used: 1, raw_response: action(number), action: 'tool_call', summary: 'echo' }
  return { step_number: number, timestamp: new Date().toISOString(), messages, ...answer, ...texts }
}

const echo: Device = {
  match: 'exact',
  open: () => createJsonRequestFile('/dev/echo', async (request) => request),
}

function action(number: number): string {
  return JSON.stringify({ action: 'tool_call', tool: '/dev/echo', input: { number, text: 'x'.repeat(200) } })
}

function isPrompt(request: unknown): request is { readonly messages: readonly unknown[] } {
  return (
    typeof request === 'object' &&
    request !== null &&
    'messages' in request &&
    Array.isArray(request.messages)
  )
}

function forever(signal: AbortSignal | undefined): Promise<never> {
  const { promise, reject } = Promise.withResolvers<never>()
  signal?.addEventListener('abort', () => reject(signal.reason))
  return promise
}

function median(times: readonly number[]): number {
  return times.toSorted((one, other) => one - other)[Math.floor(times.length / 2)] ?? Number.NaN
}
