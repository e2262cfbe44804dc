import { randomUUID } from 'node:crypto'
import type { Caller, FileSystem } from '../../vfs/index.ts'
import { DescriptorTable } from '../descriptor/descriptor-table.ts'
import {
  type EventSummary,
  type KernelEvent,
  type ProcessEvent,
  publishEvent,
  summarizeEvent,
} from '../event.ts'
import { MessageQueue } from '../ipc/message-queue.ts'
import { SignalState } from '../signal/signal-state.ts'
import { Channel } from './channel.ts'
import type { ExitStatus } from './exit-status.ts'
import { assertTransition, type ProcessState } from './process-state.ts'

/** Stores a long output of a tool, and returns a stub that says where. Short outputs are returned as they are. */
export type BoundOutput = (tool: string, output: string) => Promise<string>

/** Settings of a process. */
export interface ProcessSpec {
  readonly pid: number
  readonly ppid: number
  readonly intent: string
  readonly skills: readonly string[]
  /** Empty for a program, which has no model. */
  readonly provider: string
  readonly model: string
  /** Models to try in this order after a temporary failure of the previous one. */
  readonly fallbacks: readonly { readonly provider: string; readonly model: string }[]
  /** Limit in tokens; 0 for no limit. */
  readonly contextBudget: number
  readonly maxSteps: number
  /** Allowed device paths; null allows all. */
  readonly allowedDevices: readonly string[] | null
  /** Tools offered from the beginning, by name or device path; null offers all. */
  readonly tools: readonly string[] | null
  readonly caller: Caller
  /** Root of its namespace. */
  readonly fs: FileSystem
  /** Replaces a long output of a tool by a stub. */
  readonly boundOutput: BoundOutput | undefined
  /** Saves its files at the end of a step, and returns the name of the checkpoint that has them. */
  readonly saveFiles: ((step: number) => Promise<string>) | undefined
}

interface Pause {
  readonly startedAt: number
  readonly reason: string
  readonly ended: Promise<void>
  readonly resume: () => void
}

/** A running agent: its settings, its resources and its state. */
export class Process {
  readonly spec: ProcessSpec
  readonly uuid: string = createUuidV7()
  readonly createdAt: Date = new Date()
  readonly descriptors: DescriptorTable = new DescriptorTable()
  readonly messages: MessageQueue
  readonly signals: SignalState = new SignalState()
  readonly children: Set<number> = new Set()
  readonly groups: Set<string> = new Set()
  readonly mcpMounts: string[] = []
  readonly debug: Channel<EventSummary> = new Channel()
  readonly log: Channel<string> = new Channel()
  readonly done: Promise<ExitStatus>
  /** Devices mounted for it, in addition to those of its spec. */
  readonly grantedDevices: string[] = []
  /** Tools that a search found, by name. */
  readonly foundTools: Set<string> = new Set()
  ppid: number
  contextId = 0
  tokensUsed = 0
  result = ''
  /** Resolves once its program has ended and its files are closed. */
  ended: Promise<void> = Promise.resolve()
  readonly #abort = new AbortController()
  readonly #finish: (exit: ExitStatus) => void
  readonly #startedAt = performance.now()
  #state: ProcessState = 'created'
  #lastBeat = performance.now()
  #isStalled = false
  #exit: ExitStatus | undefined
  #pause: Pause | undefined

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

  /** Aborted when it must stop at once. */
  get signal(): AbortSignal {
    return this.#abort.signal
  }

  /** Time of its last event, on the clock of `performance.now`. */
  get lastBeat(): number {
    return this.#lastBeat
  }

  /** True if it has shown no event for too long. */
  get isStalled(): boolean {
    return this.#isStalled
  }

  get isPaused(): boolean {
    return this.#pause !== undefined
  }

  /** Reason of the pause; empty if somebody asked for it, or it is not paused. */
  get pauseReason(): string {
    return this.#pause?.reason ?? ''
  }

  /** Milliseconds since it was created. They stand still during a pause, and include it afterwards. */
  get elapsed(): number {
    return (this.#pause?.startedAt ?? performance.now()) - this.#startedAt
  }

  /** Device paths it may open; null allows all. */
  get allowedDevices(): readonly string[] | null {
    const { allowedDevices } = this.spec
    return allowedDevices === null ? null : [...allowedDevices, ...this.grantedDevices]
  }

  start(): void {
    this.#transition('running')
    this.emit({ kind: 'running' })
  }

  /** Moves from running to zombie with an exit status. */
  terminate(exit: ExitStatus): void {
    this.#transition('zombie')
    this.#exit = exit
    this.emit({ kind: 'ended', detail: `${exit.code} ${exit.reason}` })
    this.#finish(exit)
  }

  /** Ends a process that never ran, and resolves its waiters. */
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

  /** Makes it wait before its next step, or before its model is asked again. */
  pause(reason = ''): void {
    if (this.#pause !== undefined || this.#state !== 'running') return
    const { promise, resolve } = Promise.withResolvers<void>()
    this.#pause = { startedAt: performance.now(), reason, ended: promise, resume: resolve }
    this.emit({ kind: 'paused', ...(reason !== '' && { detail: reason }) })
  }

  resume(): void {
    if (this.#pause === undefined) return
    this.#pause.resume()
    this.#pause = undefined
    this.emit({ kind: 'resumed' })
  }

  /** Waits while it is paused. Returns false if it was cancelled meanwhile. */
  async waitIfPaused(): Promise<boolean> {
    while (this.#pause !== undefined) {
      const { promise: cancelled, resolve } = Promise.withResolvers<void>()
      this.signal.addEventListener('abort', () => resolve(), { once: true })
      if (this.signal.aborted) return false
      await Promise.race([this.#pause.ended, cancelled])
      if (this.signal.aborted) return false
    }
    return true
  }

  /** Marks it as stalled until its next event. */
  stall(): void {
    this.emit({ kind: 'stalled' })
    this.#isStalled = true
  }

  /** Publishes an event to the kernel's stream and to the process's trace. */
  emit(event: ProcessEvent): void {
    this.#lastBeat = performance.now()
    this.#isStalled = false
    const published: KernelEvent = { ...event, pid: this.pid, elapsed: this.elapsed }
    this.debug.push(summarizeEvent(published))
    publishEvent(published)
  }

  #transition(state: ProcessState): void {
    assertTransition(this.pid, this.#state, state)
    this.#state = state
  }
}

/** Creates a version 7 UUID: unique across restarts and ordered by time. */
function createUuidV7(now: number = Date.now()): string {
  const time = now.toString(16).padStart(12, '0')
  // The random part of version 4, for which Node keeps a pool of random bytes.
  return `${time.slice(0, 8)}-${time.slice(8)}-7${randomUUID().slice(15)}`
}
