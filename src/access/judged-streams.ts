import { type CallContext, child, type DirEntry } from '../vfs/index.ts'
import { followed, type Gate } from './gate.ts'

/** Opens a stream at a real path. */
type Open<T> = (path: string, ctx: CallContext | undefined) => AsyncIterable<T>

/** What is streamed of one file, if the caller may read it. Where reads are not judged, the stream itself. */
export function streamOf<T>(
  gate: Gate,
  op: string,
  path: string,
  ctx: CallContext | undefined,
  open: Open<T>,
): AsyncIterable<T> {
  return gate.isOpen('read', ctx) ? open(path, ctx) : judged(gate, op, path, ctx, open)
}

/** The entries of a directory that the caller may read. */
export function entriesOf(
  gate: Gate,
  path: string,
  ctx: CallContext | undefined,
  open: Open<DirEntry>,
): AsyncIterable<DirEntry> {
  if (gate.isOpen('read', ctx)) return open(path, ctx)
  return judged(gate, 'readdir', path, ctx, (real, passed) =>
    visible(gate, 'readdir', open(real, passed), ({ name }) => [child(real, name)], ctx),
  )
}

/** What is streamed of everything below a root, without what the caller may not read, in paths as they were asked for. */
export function streamBelow<T extends { readonly path: string; readonly from?: string }>(
  gate: Gate,
  op: string,
  root: string,
  ctx: CallContext | undefined,
  open: Open<T>,
): AsyncIterable<T> {
  if (gate.isOpen('read', ctx)) return open(root, ctx)
  return judged(gate, op, root, ctx, (real, passed) => {
    const shown = visible(gate, op, open(real, passed), placesOf, ctx)
    return real === root ? shown : rebased(shown, real, root)
  })
}

/** The paths an item tells of. */
export function placesOf({ path, from }: { readonly path: string; readonly from?: string }): string[] {
  return from === undefined ? [path] : [path, from]
}

/** The items all of whose places the caller may read. */
export async function* visible<T>(
  gate: Gate,
  op: string,
  items: AsyncIterable<T>,
  places: (item: T) => readonly string[],
  ctx: CallContext | undefined,
): AsyncGenerator<T> {
  for await (const item of items) {
    if (places(item).every((path) => gate.verdict(op, 'read', path, ctx) === null)) yield item
  }
}

async function* judged<T>(
  gate: Gate,
  op: string,
  path: string,
  ctx: CallContext | undefined,
  open: Open<T>,
): AsyncGenerator<T> {
  const touches = [followed(path, 'read')]
  yield* await gate.pass({ op, touches, ctx }, (passed, real) => open(real, passed))
}

async function* rebased<T extends { readonly path: string }>(
  items: AsyncIterable<T>,
  from: string,
  to: string,
): AsyncGenerator<T> {
  const [cut, prefix] = [from === '/' ? 0 : from.length, to === '/' ? '' : to]
  for await (const item of items) yield { ...item, path: prefix + item.path.slice(cut) }
}
