import {
  type CallContext,
  child,
  DeferredStream,
  type DirEntry,
  ReadyStream,
  startStream,
} from '../vfs/index.ts'
import {
  createTargetAccess,
  type Gate,
  type GateRequest,
  type PathAccess,
  rebasePath,
  withRequestedPath,
} from './gate.ts'

/** Opens a stream at a real path. */
type OpenStream<T> = (path: string, ctx: CallContext | undefined) => AsyncIterable<T>

/** A stream to open. */
interface StreamRequest extends Pick<GateRequest, 'op' | 'ctx' | 'isLinkChecked'> {
  readonly path: string
}

/** Streams one file if the caller may read it. Returns the stream unwrapped if reads of this caller need no check. */
export function openAllowedStream<T>(
  gate: Gate,
  request: StreamRequest,
  open: OpenStream<T>,
): AsyncIterable<T> {
  const { path, ctx } = request
  return gate.isUnrestricted('read', ctx) ? open(path, ctx) : openChecked(gate, request, open)
}

/** Lists the entries of a directory that the caller may read. */
export function listAllowedEntries(
  gate: Gate,
  path: string,
  ctx: CallContext | undefined,
  open: OpenStream<DirEntry>,
): AsyncIterable<DirEntry> {
  if (gate.isUnrestricted('read', ctx)) return open(path, ctx)
  return openChecked(gate, { op: 'readdir', path, ctx, isLinkChecked: true }, (real, passed) =>
    filterReadable(gate, 'readdir', open(real, passed), ({ name }) => [child(real, name)], ctx),
  )
}

/** Streams everything below a root, without what the caller may not read. Items are named below the requested root. */
export function streamAllowedBelow<T extends { readonly path: string; readonly from?: string }>(
  gate: Gate,
  op: string,
  root: string,
  ctx: CallContext | undefined,
  open: OpenStream<T>,
): AsyncIterable<T> {
  if (gate.isUnrestricted('read', ctx)) return open(root, ctx)
  return openChecked(gate, { op, path: root, ctx }, (real, passed) => {
    const readable = filterReadable(gate, op, open(real, passed), listItemPaths, ctx)
    return real === root ? readable : rebasePaths(readable, real, root)
  })
}

/** Returns the path of an item, and the old one of a rename. */
export function listItemPaths({ path, from }: { readonly path: string; readonly from?: string }): string[] {
  return from === undefined ? [path] : [path, from]
}

/** Yields the items whose paths the caller may all read. */
export function filterReadable<T extends object>(
  gate: Gate,
  op: string,
  items: AsyncIterable<T>,
  listPaths: (item: T) => readonly string[],
  ctx: CallContext | undefined,
): AsyncIterable<T> {
  const isReadable = (item: T) =>
    listPaths(item).every((path) => gate.evaluate(op, 'read', path, ctx) === null)
  return items instanceof ReadyStream ? items.filter(isReadable) : filter(items, isReadable)
}

/** Streams from the real path, once the gate allows it. Errors name the requested path. */
function openChecked<T>(
  gate: Gate,
  { path, ...request }: StreamRequest,
  open: OpenStream<T>,
): AsyncIterable<T> {
  const touches = [createTargetAccess(path, 'read')]
  return new DeferredStream(async () => {
    let realPath = path
    const stream = await gate.runIfAllowed({ ...request, touches }, (passed, real) => {
      realPath = real
      return startStream(open(real, passed))
    })
    return realPath === path ? stream : renameErrors(stream, realPath, touches)
  })
}

/** Yields the items of a real path. Errors name the requested one. */
async function* renameErrors<T>(
  stream: AsyncIterable<T>,
  realPath: string,
  touches: readonly PathAccess[],
): AsyncGenerator<T> {
  try {
    yield* stream
  } catch (error) {
    throw withRequestedPath(error, [realPath], touches)
  }
}

async function* filter<T>(items: AsyncIterable<T>, isKept: (item: T) => boolean): AsyncGenerator<T> {
  for await (const item of items) if (isKept(item)) yield item
}

/** Moves the paths of items from one root to another. An old path outside of the root stays. */
async function* rebasePaths<T extends { readonly path: string; readonly from?: string }>(
  items: AsyncIterable<T>,
  from: string,
  to: string,
): AsyncGenerator<T> {
  for await (const item of items) {
    const path = rebasePath(item.path, from, to)
    yield item.from === undefined
      ? { ...item, path }
      : { ...item, path, from: rebasePath(item.from, from, to) }
  }
}
