import type { Caller, FileSystem } from '../../vfs/index.ts'
import { DescriptorTable } from '../descriptor/descriptor-table.ts'
import { type KernelEvent, type ProcessEvent, publishEvent } from '../event.ts'
import { MessageQueue } from '../ipc/message-queue.ts'
import { SignalState } from '../signal/signal-state.ts'
import { Channel } from './channel.ts'
import type { ExitStatus } from './exit-status.ts'
import { assertTransition, type ProcessState } from './process-state.ts'
import { uuidV7 } from './uuid.ts'

/** What a process is made of. */
export interface ProcessSpec {
  readonly pid: number
  readonly ppid: number
  readonly intent: string
  readonly skills: readonly string[]
  readonly provider: string
  readonly model: string
  /** Asked in this order where the one before fails for a while. */
  readonly fallbacks: readonly { readonly provider: string; readonly model: string }[]
  /** 0 for no limit. */
  readonly contextBudget: number
  /** null for all. */
  readonly allowedDevices: readonly string[] | null
  readonly caller: Caller
  /** What it sees as `/`. */
  readonly fs: FileSystem
}

/** One agent at work: what it is, what it holds, and how it is stopped. */
export class Process {
  readonly spec: ProcessSpec
  readonly uuid: string = uuidV7()
  readonly createdAt: Date = new Date()
  readonly descriptors: DescriptorTable = new DescriptorTable()
  readonly messages: MessageQueue
  readonly signals: SignalState = new SignalState()
  readonly children: Set<number> = new Set()
  readonly groups: Set<string> = new Set()
  readonly mcpMounts: string[] = []
  readonly debug: Channel<KernelEvent> = new Channel()
  readonly log: Channel<string> = new Channel()
  readonly done: Promise<ExitStatus>
  /** Devices beyond those of its spec: what was mounted for it. */
  readonly grantedDevices: string[] = []
  ppid: number
  contextId = 0
  tokensUsed = 0
  result = ''
  /** Settled when its program has ended and its files are closed. */
  ended: Promise<void> = Promise.resolve()
  readonly #abort = new AbortController()
  readonly #finish: (exit: ExitStatus) => void
  readonly #startedAt = performance.now()
  #state: ProcessState = 'created'
  #exit: ExitStatus | undefined
  #pause: { readonly at: number; readonly over: Promise<void>; readonly resume: () => void } | undefined

  constructor(spec: ProcessSpec) {
    this.spec = spec
    this.ppid = spec.ppid
    this.messages = new MessageQueue(spec.pid)
    const { promise, resolve } = Promise.withResolvers<ExitStatus>()
    this.done = promise
    this.#finish = resolve
  }

  get pid(): number {
    return this.spec.pid
  }

  get state(): ProcessState {
    return this.#state
  }

  get exit(): ExitStatus | undefined {
    return this.#exit
  }

  /** Aborted when it is to stop at once. */
  get signal(): AbortSignal {
    return this.#abort.signal
  }

  get isPaused(): boolean {
    return this.#pause !== undefined
  }

  /** Milliseconds since it was made; they stand still while it is paused. */
  get elapsed(): number {
    return (this.#pause?.at ?? performance.now()) - this.#startedAt
  }

  /** What it may open; null for everything. */
  get allowedDevices(): readonly string[] | null {
    const { allowedDevices } = this.spec
    return allowedDevices === null ? null : [...allowedDevices, ...this.grantedDevices]
  }

  start(): void {
    this.#transition('running')
    this.emit({ kind: 'running' })
  }

  /** Running → zombie, with how it ended. */
  terminate(exit: ExitStatus): void {
    this.#transition('zombie')
    this.#exit = exit
    this.emit({ kind: 'ended', detail: `${exit.code} ${exit.reason}` })
    this.#finish(exit)
  }

  /** It never began, and never will: whoever waits for it is told so. */
  abandon(exit: ExitStatus): void {
    this.#exit = exit
    this.#finish(exit)
  }

  markDead(): void {
    this.#transition('dead')
  }

  cancel(reason: string): void {
    this.#abort.abort(new Error(reason))
  }

  /** From the next step on it waits. */
  pause(): void {
    if (this.#pause !== undefined || this.#state !== 'running') return
    const { promise, resolve } = Promise.withResolvers<void>()
    this.#pause = { at: performance.now(), over: promise, resume: resolve }
    this.emit({ kind: 'paused' })
  }

  resume(): void {
    if (this.#pause === undefined) return
    this.#pause.resume()
    this.#pause = undefined
    this.emit({ kind: 'resumed' })
  }

  /** Waits while it is paused; false if it was cancelled meanwhile. */
  async waitIfPaused(): Promise<boolean> {
    while (this.#pause !== undefined) {
      const { promise: cancelled, resolve } = Promise.withResolvers<void>()
      this.signal.addEventListener('abort', () => resolve(), { once: true })
      if (this.signal.aborted) return false
      await Promise.race([this.#pause.over, cancelled])
      if (this.signal.aborted) return false
    }
    return true
  }

  /** Tells the one stream of something, and whoever traces this process. */
  emit(event: ProcessEvent): void {
    const told: KernelEvent = { ...event, pid: this.pid, elapsed: this.elapsed }
    this.debug.push(told)
    publishEvent(told)
  }

  #transition(state: ProcessState): void {
    assertTransition(this.pid, this.#state, state)
    this.#state = state
  }
}
