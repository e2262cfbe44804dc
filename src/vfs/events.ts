import type { TracingChannel } from 'node:diagnostics_channel'
import { countUtf8Bytes } from './bytes.ts'
import type { CallContext, Caller, Content } from './file-system.ts'
import { diagnostics } from './runtime.ts'

/** Every operation that emits an event, on the tracing channel `coppice:vfs:<op>`. */
export const vfsOperations = [
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

/** Name of an operation that emits an event. */
export type VfsOperation = (typeof vfsOperations)[number]

/**
 * The message on the tracing channel. `start` fires with the first five fields. When the operation is over, `error`
 * fires if it failed, then `end` always, both with the same object filled in. A stream is over when it is drained, left
 * or broken, so its event spans the enumeration.
 */
export interface VfsEvent {
  readonly op: VfsOperation
  readonly path: string
  readonly caller: Caller | undefined
  readonly trace: string | undefined
  /** A time of `performance.now()`. */
  readonly startedAt: number
  /** Bytes of content that were read or written. */
  bytes?: number
  /** Items that were listed. */
  entries?: number
  /** Milliseconds. */
  duration?: number
  error?: unknown
}

/** A lookup in a cache, on the channel `coppice:vfs:cache`: found (`hit`) or computed (`miss`). */
export interface CacheEvent {
  readonly cache: string
  readonly path: string
  readonly outcome: 'hit' | 'miss'
}

/** Channels of the operations that were called so far; empty where the runtime has none. */
const channels = new Map<VfsOperation, TracingChannel<VfsEvent, VfsEvent>>()
const cacheChannel = diagnostics?.channel('coppice:vfs:cache')

function getChannel(op: VfsOperation): TracingChannel<VfsEvent, VfsEvent> | undefined {
  const existing = channels.get(op)
  if (existing !== undefined || diagnostics === undefined) return existing
  const opened = diagnostics.tracingChannel<VfsEvent, VfsEvent>(`coppice:vfs:${op}`)
  channels.set(op, opened)
  return opened
}

/**
 * Contexts of operations that are already traced, so that one operation emits one event however many layers it crosses.
 */
const tracedContexts = new WeakSet<CallContext>()
/** The inner context of a call that has no context. */
const EMPTY_INNER_CONTEXT: CallContext = Object.freeze({})
tracedContexts.add(EMPTY_INNER_CONTEXT)

/** Reports whether this call is the outermost of an operation with listeners. */
export function isTraced(op: VfsOperation, ctx: CallContext | undefined): boolean {
  const channel = getChannel(op)
  const isHeard =
    channel?.end.hasSubscribers || channel?.start.hasSubscribers || channel?.error.hasSubscribers
  return isHeard === true && (ctx === undefined || !tracedContexts.has(ctx))
}

/** Returns the context for the inner steps of an operation. These steps emit no events of their own. */
export function innerContext(ctx: CallContext | undefined): CallContext {
  if (ctx === undefined || ctx === EMPTY_INNER_CONTEXT) return EMPTY_INNER_CONTEXT
  if (tracedContexts.has(ctx)) return ctx
  const inner = { ...ctx }
  tracedContexts.add(inner)
  return inner
}

/** Returns the context without its signal, for clean-up that a cancellation must not stop. */
export function withoutSignal(ctx: CallContext | undefined): CallContext | undefined {
  if (ctx?.signal === undefined) return ctx
  const { signal: _, ...rest } = ctx
  if (tracedContexts.has(ctx)) tracedContexts.add(rest)
  return rest
}

/** Returns the context for a call that must not follow links. */
export function refuseLinks(ctx: CallContext | undefined): CallContext {
  const refusing: CallContext = { ...ctx, links: 'refuse' }
  if (ctx !== undefined && tracedContexts.has(ctx)) tracedContexts.add(refusing)
  return refusing
}

/** Runs an operation and emits its events. `run` gets the inner context and the event, on which it records sizes. */
export async function traceCall<T>(
  op: VfsOperation,
  path: string,
  ctx: CallContext | undefined,
  run: (ctx: CallContext | undefined, event: VfsEvent) => T | Promise<T>,
): Promise<T> {
  const event = beginEvent(op, path, ctx)
  try {
    return await run(innerContext(ctx), event)
  } catch (error) {
    failEvent(event, error)
    throw error
  } finally {
    finishEvent(event)
  }
}

/** The synchronous form of `traceCall`. */
export function traceSync<T>(
  op: VfsOperation,
  path: string,
  ctx: CallContext | undefined,
  run: (ctx: CallContext | undefined, event: VfsEvent) => T,
): T {
  const event = beginEvent(op, path, ctx)
  try {
    return run(innerContext(ctx), event)
  } catch (error) {
    failEvent(event, error)
    throw error
  } finally {
    finishEvent(event)
  }
}

/**
 * Yields the items of a stream and emits its events from the first step on.
 * @param source opened with an `innerContext`, so that its content does not depend on whether anyone listens.
 */
export async function* traceStream<T>(
  op: VfsOperation,
  path: string,
  ctx: CallContext | undefined,
  source: AsyncIterable<T>,
): AsyncGenerator<T> {
  const event = beginEvent(op, path, ctx)
  try {
    for await (const item of source) {
      if (item instanceof Uint8Array) event.bytes = (event.bytes ?? 0) + item.length
      else event.entries = (event.entries ?? 0) + 1
      yield item
    }
  } catch (error) {
    failEvent(event, error)
    throw error
  } finally {
    finishEvent(event)
  }
}

/** Publishes a lookup in a cache. */
export function traceCache(cache: string, path: string, outcome: CacheEvent['outcome']): void {
  if (cacheChannel?.hasSubscribers) cacheChannel.publish({ cache, path, outcome } satisfies CacheEvent)
}

/** Returns the content and records its size on the event as it is read. */
export function measureContent(content: Content, event: VfsEvent): Content {
  if (typeof content === 'string') event.bytes = countUtf8Bytes(content)
  else if (content instanceof Uint8Array) event.bytes = content.length
  else return measureStream(content, event)
  return content
}

async function* measureStream(
  content: AsyncIterable<Uint8Array | string>,
  event: VfsEvent,
): AsyncGenerator<Uint8Array | string> {
  event.bytes = 0
  for await (const chunk of content) {
    event.bytes += typeof chunk === 'string' ? countUtf8Bytes(chunk) : chunk.length
    yield chunk
  }
}

function beginEvent(op: VfsOperation, path: string, ctx: CallContext | undefined): VfsEvent {
  const event = { op, path, caller: ctx?.caller, trace: ctx?.trace, startedAt: performance.now() }
  getChannel(op)?.start.publish(event)
  return event
}

function failEvent(event: VfsEvent, error: unknown): void {
  event.error = error
  event.duration = performance.now() - event.startedAt
  getChannel(event.op)?.error.publish(event)
}

function finishEvent(event: VfsEvent): void {
  event.duration = performance.now() - event.startedAt
  getChannel(event.op)?.end.publish(event)
}
