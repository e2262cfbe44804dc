import { type CallContext, child, type DirEntry } from '../vfs/index.ts'
import { createTargetAccess, type Gate, rebasePath, withRequestedPath } from './gate.ts'

/** Opens a stream at a real path. */
type OpenStream<T> = (path: string, ctx: CallContext | undefined) => AsyncIterable<T>

/** Streams one file if the caller may read it. Returns the stream unwrapped if reads of this caller need no check. */
export function openAllowedStream<T>(
  gate: Gate,
  op: string,
  path: string,
  ctx: CallContext | undefined,
  open: OpenStream<T>,
): AsyncIterable<T> {
  return gate.isUnrestricted('read', ctx) ? open(path, ctx) : openChecked(gate, op, path, ctx, open)
}

/** Lists the entries of a directory that the caller may read. */
export function listAllowedEntries(
  gate: Gate,
  path: string,
  ctx: CallContext | undefined,
  open: OpenStream<DirEntry>,
): AsyncIterable<DirEntry> {
  if (gate.isUnrestricted('read', ctx)) return open(path, ctx)
  return openChecked(gate, 'readdir', path, ctx, (real, passed) =>
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
  return openChecked(gate, op, root, ctx, (real, passed) => {
    const readable = filterReadable(gate, op, open(real, passed), listItemPaths, ctx)
    return real === root ? readable : rebasePaths(readable, real, root)
  })
}

/** Returns the path of an item, and the old one of a rename. */
export function listItemPaths({ path, from }: { readonly path: string; readonly from?: string }): string[] {
  return from === undefined ? [path] : [path, from]
}

/** Yields the items whose paths the caller may all read. */
export async function* filterReadable<T>(
  gate: Gate,
  op: string,
  items: AsyncIterable<T>,
  listPaths: (item: T) => readonly string[],
  ctx: CallContext | undefined,
): AsyncGenerator<T> {
  for await (const item of items) {
    if (listPaths(item).every((path) => gate.evaluate(op, 'read', path, ctx) === null)) yield item
  }
}

/** Streams from the real path, once the gate allows it. Errors name the requested path. */
async function* openChecked<T>(
  gate: Gate,
  op: string,
  path: string,
  ctx: CallContext | undefined,
  open: OpenStream<T>,
): AsyncGenerator<T> {
  const touches = [createTargetAccess(path, 'read')]
  let realPath = path
  const stream = await gate.runIfAllowed({ op, touches, ctx }, (passed, real) => {
    realPath = real
    return open(real, passed)
  })
  try {
    yield* stream
  } catch (error) {
    throw withRequestedPath(error, [realPath], touches)
  }
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
