import { channel, type TracingChannel, tracingChannel } from 'node:diagnostics_channel'
import type { CallContext, Caller, Content } from './file-system.ts'

/** Every operation that emits an event, on the tracing channel `coppice:vfs:<op>`. */
export const operations = [
  'exists',
  'stat',
  'readdir',
  'read',
  'walk',
  'materialize',
  'write',
  'mkdir',
  'remove',
  'append',
  'rename',
  'symlink',
  'readlink',
  'realpath',
  'link',
  'identity',
  'setattr',
  'rmdir',
  'search',
  'hash',
  'open',
  'versions',
  'watch',
] as const

export type Operation = (typeof operations)[number]

/**
 * What the channel's subscribers get. `start` fires with the first five fields; when the operation is over, `error`
 * fires if it failed, then `end` always, both with the same object filled in.
 * A stream is over when it is drained, left or broken, so its event spans the enumeration.
 */
export interface VfsEvent {
  readonly op: Operation
  readonly path: string
  readonly caller: Caller | undefined
  readonly trace: string | undefined
  readonly startedAt: number
  bytes?: number
  entries?: number
  /** Milliseconds. */
  duration?: number
  error?: unknown
}

/** A cache answered from what it held (`hit`) or had to compute (`miss`): channel `coppice:vfs:cache`. */
export interface CacheEvent {
  readonly cache: string
  readonly path: string
  readonly outcome: 'hit' | 'miss'
}

const channels = new Map<Operation, TracingChannel<VfsEvent, VfsEvent>>(
  operations.map((op) => [op, tracingChannel<VfsEvent, VfsEvent>(`coppice:vfs:${op}`)]),
)

const cacheChannel = channel('coppice:vfs:cache')

/** Contexts handed down by an operation that is being traced already: one operation, one event, whatever the layers. */
const traced = new WeakSet<CallContext>()
/** The inner context of a call without one. */
const INSIDE: CallContext = Object.freeze({})
traced.add(INSIDE)

/** Whether this call is the outermost of an operation somebody listens to. */
export function isTraced(op: Operation, ctx: CallContext | undefined): boolean {
  const channel = channels.get(op)
  const isHeard =
    channel?.end.hasSubscribers || channel?.start.hasSubscribers || channel?.error.hasSubscribers
  return isHeard === true && (ctx === undefined || !traced.has(ctx))
}

/** The context for the steps an operation takes inside: they are no operations of their own. */
export function innerContext(ctx: CallContext | undefined): CallContext {
  if (ctx === undefined || ctx === INSIDE) return INSIDE
  if (traced.has(ctx)) return ctx
  const inner = { ...ctx }
  traced.add(inner)
  return inner
}

/** The same context without its signal: for cleaning up, which cancelling must not cancel. */
export function withoutSignal(ctx: CallContext | undefined): CallContext | undefined {
  if (ctx?.signal === undefined) return ctx
  const { signal: _, ...rest } = ctx
  if (traced.has(ctx)) traced.add(rest)
  return rest
}

/** The same context for a call that follows no link. */
export function refusingLinks(ctx: CallContext | undefined): CallContext {
  const refusing: CallContext = { ...ctx, links: 'refuse' }
  if (ctx !== undefined && traced.has(ctx)) traced.add(refusing)
  return refusing
}

export async function traceCall<T>(
  op: Operation,
  path: string,
  ctx: CallContext | undefined,
  run: (ctx: CallContext | undefined, event: VfsEvent) => T | Promise<T>,
): Promise<T> {
  const event = begin(op, path, ctx)
  try {
    return await run(innerContext(ctx), event)
  } catch (error) {
    fail(event, error)
    throw error
  } finally {
    finish(event)
  }
}

/** As `traceCall`, of an operation that is done when it returns. */
export function traceSync<T>(
  op: Operation,
  path: string,
  ctx: CallContext | undefined,
  run: (ctx: CallContext | undefined, event: VfsEvent) => T,
): T {
  const event = begin(op, path, ctx)
  try {
    return run(innerContext(ctx), event)
  } catch (error) {
    fail(event, error)
    throw error
  } finally {
    finish(event)
  }
}

/** @param source opened with an `innerContext`, so that what it shows does not depend on anybody listening. */
export async function* traceStream<T>(
  op: Operation,
  path: string,
  ctx: CallContext | undefined,
  source: AsyncIterable<T>,
): AsyncGenerator<T> {
  const event = begin(op, path, ctx)
  try {
    for await (const item of source) {
      if (item instanceof Uint8Array) event.bytes = (event.bytes ?? 0) + item.length
      else event.entries = (event.entries ?? 0) + 1
      yield item
    }
  } catch (error) {
    fail(event, error)
    throw error
  } finally {
    finish(event)
  }
}

export function noteCache(cache: string, path: string, outcome: CacheEvent['outcome']): void {
  if (cacheChannel.hasSubscribers) cacheChannel.publish({ cache, path, outcome } satisfies CacheEvent)
}

/** The same content, with its size noted on the event as it passes. */
export function measured(content: Content, event: VfsEvent): Content {
  if (typeof content === 'string') event.bytes = Buffer.byteLength(content)
  else if (content instanceof Uint8Array) event.bytes = content.length
  else return measuredStream(content, event)
  return content
}

async function* measuredStream(
  content: AsyncIterable<Uint8Array | string>,
  event: VfsEvent,
): AsyncGenerator<Uint8Array | string> {
  event.bytes = 0
  for await (const chunk of content) {
    event.bytes += typeof chunk === 'string' ? Buffer.byteLength(chunk) : chunk.length
    yield chunk
  }
}

function begin(op: Operation, path: string, ctx: CallContext | undefined): VfsEvent {
  const event = { op, path, caller: ctx?.caller, trace: ctx?.trace, startedAt: performance.now() }
  channels.get(op)?.start.publish(event)
  return event
}

function fail(event: VfsEvent, error: unknown): void {
  event.error = error
  event.duration = performance.now() - event.startedAt
  channels.get(event.op)?.error.publish(event)
}

function finish(event: VfsEvent): void {
  event.duration = performance.now() - event.startedAt
  channels.get(event.op)?.end.publish(event)
}
