import { isVfsError } from '../error.ts'
import type { CallContext, DirEntry, FileSystem, Stat } from '../file-system.ts'
import { child } from '../path.ts'
import { type Change, isContentAddressed, isDiffable, isLinkable } from '../protocols.ts'

/**
 * What changed from one tree to another, sorted by path. Content decides, not time: a file written back as it was
 * is no change. In time proportional to the changes where the two trees are relatives that can tell.
 */
export async function* diff(
  before: FileSystem,
  after: FileSystem,
  root = '/',
  ctx?: CallContext,
): AsyncGenerator<Change> {
  const native = root === '/' && isDiffable(after) ? after.diffFrom(before, ctx) : null
  if (native !== null) {
    yield* native
    return
  }
  const changes: Change[] = []
  const pending = [root]
  for (let directory = pending.pop(); directory !== undefined; directory = pending.pop()) {
    for await (const found of compareDirectory(before, after, directory, ctx)) {
      if (typeof found === 'string') pending.push(found)
      else changes.push(found)
    }
  }
  yield* changes.sort((a, b) => (a.path < b.path ? -1 : 1))
}

/** The changes in one directory, and the paths of the directories on both sides that are yet to be compared. */
async function* compareDirectory(
  before: FileSystem,
  after: FileSystem,
  directory: string,
  ctx?: CallContext,
): AsyncGenerator<Change | string> {
  const [old, now] = [await entriesOf(before, directory, ctx), await entriesOf(after, directory, ctx)]
  for (const name of new Set([...old.keys(), ...now.keys()])) {
    const path = child(directory, name)
    const [oldType, newType] = [old.get(name), now.get(name)]
    if (oldType === 'directory' && newType === 'directory') yield path
    else if (oldType === newType) yield* compareFiles(before, after, path, ctx)
    else {
      if (oldType !== undefined) yield* wholeSubtree(before, path, 'deleted', ctx)
      if (newType !== undefined) yield* wholeSubtree(after, path, 'added', ctx)
    }
  }
}

async function* compareFiles(
  before: FileSystem,
  after: FileSystem,
  path: string,
  ctx?: CallContext,
): AsyncGenerator<Change> {
  const [old, now] = [await before.stat(path, ctx), await after.stat(path, ctx)]
  if (await isSame(before, after, path, old, now, ctx)) return
  yield { kind: 'modified', path, before: old, after: now }
}

/** Whether a path that has the same type on both sides holds the same there. */
export async function isSame(
  before: FileSystem,
  after: FileSystem,
  path: string,
  old: Stat,
  now: Stat,
  ctx?: CallContext,
): Promise<boolean> {
  if (old.mode !== null && now.mode !== null && old.mode !== now.mode) return false
  if (old.type === 'symlink' && isLinkable(before) && isLinkable(after)) {
    return (await before.readlink(path, ctx)) === (await after.readlink(path, ctx))
  }
  if (old.size !== now.size) return false
  if (old.type !== 'file') return true
  if (isContentAddressed(before) && isContentAddressed(after)) {
    return (await before.hash(path, ctx)) === (await after.hash(path, ctx))
  }
  return sameBytes(before.read(path, undefined, ctx), after.read(path, undefined, ctx))
}

/** Both streams cut their chunks alike, so equal content means equal chunks. */
async function sameBytes(
  first: AsyncIterable<Uint8Array>,
  second: AsyncIterable<Uint8Array>,
): Promise<boolean> {
  const other = second[Symbol.asyncIterator]()
  try {
    for await (const chunk of first) {
      const { value } = await other.next()
      if (value === undefined || Buffer.compare(chunk, value) !== 0) return false
    }
    return (await other.next()).done === true
  } finally {
    await other.return?.()
  }
}

async function* wholeSubtree(
  fs: FileSystem,
  path: string,
  kind: 'added' | 'deleted',
  ctx?: CallContext,
): AsyncGenerator<Change> {
  const change = (at: string, stat: Stat): Change =>
    kind === 'added' ? { kind, path: at, after: stat } : { kind, path: at, before: stat }
  const stat = await fs.stat(path, ctx)
  if (stat.type !== 'directory') {
    yield change(path, stat)
    return
  }
  if (await isEmpty(fs, path, ctx)) yield change(path, stat)
  for await (const entry of fs.walk(path, { includeDirs: true }, ctx)) {
    if (entry.stat.type !== 'directory' || (await isEmpty(fs, entry.path, ctx)))
      yield change(entry.path, entry.stat)
  }
}

async function isEmpty(fs: FileSystem, path: string, ctx?: CallContext): Promise<boolean> {
  for await (const _ of fs.readdir(path, ctx)) return false
  return true
}

async function entriesOf(
  fs: FileSystem,
  path: string,
  ctx?: CallContext,
): Promise<Map<string, DirEntry['type']>> {
  const entries = new Map<string, DirEntry['type']>()
  try {
    for await (const { name, type } of fs.readdir(path, ctx)) entries.set(name, type)
  } catch (error) {
    if (!isVfsError(error, 'ENOENT')) throw error
  }
  return entries
}
