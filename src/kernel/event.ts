import { channel } from 'node:diagnostics_channel'

/** A completed system call of a process. */
export interface SyscallEvent {
  readonly kind: 'syscall'
  readonly pid: number
  /** Milliseconds since the process was created. */
  readonly elapsed: number
  readonly call: string
  readonly args: readonly unknown[]
  readonly result?: unknown
  readonly error?: string
  /** Milliseconds. */
  readonly duration: number
}

/** A change of a process's state. */
export interface LifecycleEvent {
  readonly kind:
    | 'spawned'
    | 'running'
    | 'paused'
    | 'resumed'
    | 'stalled'
    | 'ended'
    | 'reaped'
    | 'reparented'
    | 'signal'
  readonly pid: number
  readonly elapsed: number
  readonly detail?: string
}

/** One step of reaping a process. */
export interface ReapEvent {
  readonly kind: 'reap'
  readonly pid: number
  readonly elapsed: number
  readonly step: ReapStep
}

/** A log line of a process. */
export interface LogEvent {
  readonly kind: 'log' | 'tool' | 'budget_exceeded'
  readonly pid: number
  readonly elapsed: number
  readonly text: string
}

/** Text of a model, while it arrives. It is shown and not stored. */
export interface TextEvent {
  readonly kind: 'text'
  readonly pid: number
  readonly elapsed: number
  readonly text: string
}

/** The steps in which a process is reaped, in order. */
export const reapSteps = [
  'orphans',
  'cancel',
  'loop',
  'channels',
  'messages',
  'groups',
  'signals',
  'threads',
  'coroutines',
  'context',
  'dead',
  'removed',
] as const

/** A step of reaping, by its name. */
export type ReapStep = (typeof reapSteps)[number]

/** Any event of the kernel. */
export type KernelEvent = SyscallEvent | LifecycleEvent | ReapEvent | LogEvent | TextEvent

type Without<Event, Key extends string> = Event extends unknown ? Omit<Event, Key> : never

/** An event before the process adds its number and time. */
export type ProcessEvent = Without<KernelEvent, 'pid' | 'elapsed'>

/** An event without its arguments, results and texts: these are long, and a summary is kept for a while. */
export interface EventSummary {
  readonly kind: KernelEvent['kind']
  readonly elapsed: number
  /** Absent unless it is a call. */
  readonly call?: Pick<SyscallEvent, 'call' | 'duration' | 'error'>
}

export function summarizeEvent(event: KernelEvent): EventSummary {
  const { kind, elapsed } = event
  if (kind !== 'syscall') return { kind, elapsed }
  const { call, duration, error } = event
  return { kind, elapsed, call: { call, duration, ...(error !== undefined && { error }) } }
}

/** The stream of all kernel events. strace, logs and the daemon subscribe to it. */
const stream = channel('coppice:kernel')

export function publishEvent(event: KernelEvent): void {
  stream.publish(event)
}

/** Prevents recursion: the listener that failed also receives the fault event. */
let isPublishingFault = false

/** Subscribes to all events and returns the unsubscribe function. An error in `onEvent` becomes a log event. */
export function listen(onEvent: (event: KernelEvent) => void): () => void {
  const listener = (event: unknown) => {
    if (!isKernelEvent(event)) return
    try {
      onEvent(event)
    } catch (error) {
      publishFault(event, error)
    }
  }
  stream.subscribe(listener)
  return () => void stream.unsubscribe(listener)
}

function publishFault({ pid, elapsed }: KernelEvent, error: unknown): void {
  if (isPublishingFault) return
  isPublishingFault = true
  try {
    publishEvent({ kind: 'log', pid, elapsed, text: formatFault('a listener', error) })
  } finally {
    isPublishingFault = false
  }
}

/** Formats an error thrown by a listener or callback. */
export function formatFault(source: string, error: unknown): string {
  return `${source} failed: ${error instanceof Error ? error.message : String(error)}`
}

function isKernelEvent(event: unknown): event is KernelEvent {
  return typeof event === 'object' && event !== null && 'kind' in event && 'pid' in event
}
