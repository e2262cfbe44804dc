import { equalBytes } from '../bytes.ts'
import type { CallContext, FileSystem, Stat } from '../file-system.ts'
import { basename, checkPath, child, dirname } from '../path.ts'
import { isContentAddressed, isDiffable, isLinkable, type PathChange } from '../protocols.ts'
import { isMissing, statIfPresent } from './stat-if-present.ts'

/**
 * Lists the changes from one tree to another below a directory, sorted by path. Content and mode decide, not time: a file
 * rewritten with equal content is no change. Trees that share nodes are compared in time proportional to the changes.
 *
 * @example
 * ```ts
 * const before = new MemoryFs({ '/a.txt': 'one' })
 * const after = before.fork()
 * await after.write('/b.txt', 'two')
 * const changes = await Array.fromAsync(diff(before, after), ({ kind, path }) => `${kind} ${path}`)
 * assert.deepEqual(changes, ['added /b.txt'])
 * ```
 */
export async function* diff(
  before: FileSystem,
  after: FileSystem,
  root = '/',
  ctx?: CallContext,
): AsyncGenerator<PathChange> {
  const top = checkPath(root, 'diff')
  const native = top === '/' && isDiffable(after) ? after.diffFrom(before, ctx) : null
  if (native !== null) {
    yield* native
    return
  }
  yield* diffTrees(before, after, top, async () => null, ctx)
}

/** Compares as `diff` does, but only at some paths, and the directories that lead to them. */
export async function* diffCandidates(
  before: FileSystem,
  after: FileSystem,
  paths: Iterable<string>,
  ctx?: CallContext,
): AsyncGenerator<PathChange> {
  const names = new Map<string, Set<string>>()
  for (const path of paths)
    for (let entry = path; entry !== '/'; entry = dirname(entry))
      names.set(dirname(entry), (names.get(dirname(entry)) ?? new Set()).add(basename(entry)))
  yield* diffTrees(before, after, '/', async (directory) => names.get(directory) ?? [], ctx)
}

/** Returns the names in a directory that may differ, or null if any name may. */
export type DiffCandidates = (directory: string) => Promise<Iterable<string> | null>

/** Compares as `diff` does, but looks only at the candidates. */
export async function* diffTrees(
  before: FileSystem,
  after: FileSystem,
  root: string,
  candidates: DiffCandidates,
  ctx?: CallContext,
): AsyncGenerator<PathChange> {
  const changes: PathChange[] = []
  const pending = [root]
  for (let directory = pending.pop(); directory !== undefined; directory = pending.pop()) {
    const names =
      (await candidates(directory)) ?? (await listNamesOnEitherSide(before, after, directory, ctx))
    for (const name of names) {
      const path = child(directory, name)
      const [old, current] = [await statIfPresent(before, path, ctx), await statIfPresent(after, path, ctx)]
      if (old?.type === 'directory' && current?.type === 'directory') pending.push(path)
      else changes.push(...(await compareEntry(before, after, path, old, current, ctx)))
    }
  }
  yield* changes.sort((a, b) => (a.path < b.path ? -1 : 1))
}

async function compareEntry(
  before: FileSystem,
  after: FileSystem,
  path: string,
  old: Stat | null,
  current: Stat | null,
  ctx?: CallContext,
): Promise<PathChange[]> {
  if (old !== null && old.type === current?.type) {
    if (await isSameEntry(before, after, path, old, current, ctx)) return []
    return [{ kind: 'modified', path, before: old, after: current }]
  }
  const deleted =
    old === null ? [] : await Array.fromAsync(listSubtreeChanges(before, path, old, 'deleted', ctx))
  const added =
    current === null ? [] : await Array.fromAsync(listSubtreeChanges(after, path, current, 'added', ctx))
  return [...deleted, ...added]
}

/** Reports whether a path has the same content and mode on both sides. Both entries have the same type. */
export async function isSameEntry(
  before: FileSystem,
  after: FileSystem,
  path: string,
  old: Stat,
  current: Stat,
  ctx?: CallContext,
): Promise<boolean> {
  if (old.mode !== null && current.mode !== null && old.mode !== current.mode) return false
  if (old.type === 'symlink') {
    // Without a readable target the link may have changed: report one change too many rather than lose one.
    if (!isLinkable(before) || !isLinkable(after)) return false
    return (await before.readlink(path, ctx)) === (await after.readlink(path, ctx))
  }
  if (old.size !== current.size) return false
  if (old.type !== 'file') return true
  if (isContentAddressed(before) && isContentAddressed(after)) {
    return (await before.hash(path, ctx)) === (await after.hash(path, ctx))
  }
  return hasSameBytes(before.read(path, undefined, ctx), after.read(path, undefined, ctx))
}

/** Compares two streams. Both cut their chunks alike, so equal content means equal chunks. */
async function hasSameBytes(
  first: AsyncIterable<Uint8Array>,
  second: AsyncIterable<Uint8Array>,
): Promise<boolean> {
  const other = second[Symbol.asyncIterator]()
  try {
    for await (const chunk of first) {
      const { value } = await other.next()
      if (value === undefined || !equalBytes(chunk, value)) return false
    }
    return (await other.next()).done === true
  } finally {
    await other.return?.()
  }
}

async function* listSubtreeChanges(
  fs: FileSystem,
  path: string,
  stat: Stat,
  kind: 'added' | 'deleted',
  ctx?: CallContext,
): AsyncGenerator<PathChange> {
  const createChange = (path: string, stat: Stat): PathChange =>
    kind === 'added' ? { kind, path, after: stat } : { kind, path, before: stat }
  if (stat.type !== 'directory') {
    yield createChange(path, stat)
    return
  }
  if (await isEmpty(fs, path, ctx)) yield createChange(path, stat)
  for await (const entry of fs.walk(path, { includeDirs: true }, ctx)) {
    if (entry.stat.type !== 'directory' || (await isEmpty(fs, entry.path, ctx)))
      yield createChange(entry.path, entry.stat)
  }
}

async function isEmpty(fs: FileSystem, path: string, ctx?: CallContext): Promise<boolean> {
  for await (const _ of fs.readdir(path, ctx)) return false
  return true
}

async function listNamesOnEitherSide(
  before: FileSystem,
  after: FileSystem,
  directory: string,
  ctx?: CallContext,
): Promise<Set<string>> {
  const names = new Set<string>()
  for (const fs of [before, after]) {
    try {
      for await (const { name } of fs.readdir(directory, ctx)) names.add(name)
    } catch (error) {
      if (!isMissing(error)) throw error
    }
  }
  return names
}
