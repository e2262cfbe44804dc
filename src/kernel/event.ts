import { channel } from 'node:diagnostics_channel'

/** A call of a process to the kernel, when it is over. */
export interface SyscallEvent {
  readonly kind: 'syscall'
  readonly pid: number
  /** Milliseconds since the process was made. */
  readonly elapsed: number
  readonly call: string
  readonly args: readonly unknown[]
  readonly result?: unknown
  readonly error?: string
  /** Milliseconds. */
  readonly duration: number
}

/** A step of the life of a process. */
export interface LifecycleEvent {
  readonly kind: 'spawned' | 'running' | 'paused' | 'resumed' | 'ended' | 'reaped' | 'reparented' | 'signal'
  readonly pid: number
  readonly elapsed: number
  readonly detail?: string
}

/** One of the steps in which a process is taken apart. */
export interface ReapEvent {
  readonly kind: 'reap'
  readonly pid: number
  readonly elapsed: number
  readonly step: ReapStep
}

/** What a process tells of its thinking. */
export interface LogEvent {
  readonly kind: 'log' | 'budget_exceeded'
  readonly pid: number
  readonly elapsed: number
  readonly text: string
}

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

export type ReapStep = (typeof reapSteps)[number]

export type KernelEvent = SyscallEvent | LifecycleEvent | ReapEvent | LogEvent

type Without<Event, Key extends string> = Event extends unknown ? Omit<Event, Key> : never

/** An event as its process tells it. */
export type ProcessEvent = Without<KernelEvent, 'pid' | 'elapsed'>

/** The one stream of everything that happens: strace, logs and the daemon listen here. */
const stream = channel('coppice:kernel')

export function publishEvent(event: KernelEvent): void {
  stream.publish(event)
}

/** A fault of a listener is told once: who hears of it may be the one with the fault. */
let isPublishingFault = false

/** Hears everything from now on; returns how to stop. What it throws is told as a log event, and stops nobody. */
export function listen(hear: (event: KernelEvent) => void): () => void {
  const listener = (event: unknown) => {
    if (!isKernelEvent(event)) return
    try {
      hear(event)
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

/** What is told of somebody outside who threw at the kernel. */
export function formatFault(who: string, error: unknown): string {
  return `${who} failed: ${error instanceof Error ? error.message : String(error)}`
}

function isKernelEvent(event: unknown): event is KernelEvent {
  return typeof event === 'object' && event !== null && 'kind' in event && 'pid' in event
}
