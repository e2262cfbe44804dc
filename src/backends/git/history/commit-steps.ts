import { isUtf8 } from 'node:buffer'
import { child, VfsError } from '../../../vfs/index.ts'
import type { HistoryChange, HistoryStep } from '../../vault/index.ts'
import type { Commit } from '../commit-object.ts'
import { type Difference, differencesBetween } from '../diff.ts'
import type { ObjectReader } from '../object-reader.ts'
import { readCommit } from '../open-git.ts'
import { type Directory, MAX_TARGET_BYTES, type TreeEntry } from '../tree-object.ts'
import { Trees } from '../trees.ts'
import { metaOf, type Submodules } from './commit-notes.ts'

export const TRACE_PREFIX = 'git:'
/** Content up to this is read in one piece, several together. */
const WHOLE_BYTES = 4 * 1024 * 1024
const FILES_AT_ONCE = 256

/** What is known of a commit that a checkpoint stands for. */
export interface KnownCommit {
  readonly checkpoint: string
  readonly submodules: Submodules
}

/**
 * Commits in order as steps of a history, each as what changed since its first parent, which is known or comes before.
 * Takes up what it makes among the known ones. EINVAL for names no path can have.
 */
export async function* stepsOf(
  reader: ObjectReader,
  ids: readonly string[],
  known: Map<string, KnownCommit>,
  taken: ReadonlySet<string>,
): AsyncGenerator<HistoryStep> {
  const trees = new Trees(reader)
  const names = new Set(taken)
  for (const id of ids) {
    const commit = await readCommit(reader, id)
    const [parent] = commit.parents
    const before = parent === undefined ? undefined : known.get(parent)
    const root = parent === undefined ? undefined : (await readCommit(reader, parent)).tree
    const found = await differencesBetween({ root, trees }, { root: commit.tree, trees }, (path, directory) =>
      assertNames(commit, path, directory),
    )
    const submodules = submodulesAfter(before?.submodules ?? new Map(), found)
    const checkpoint = names.has(id.slice(0, 12)) ? id : id.slice(0, 12)
    names.add(checkpoint)
    known.set(id, { checkpoint, submodules })
    yield {
      name: checkpoint,
      base: before?.checkpoint,
      description: commit.message.split('\n', 1)[0] ?? '',
      meta: metaOf(commit, submodules),
      time: commit.time,
      trace: TRACE_PREFIX + id,
      changes: () => changesOf(reader, trees, found),
    }
  }
}

/** The same ones where none of them changed. */
function submodulesAfter(before: Submodules, found: readonly Difference[]): Submodules {
  const changed = found.filter(({ before, after }) => before?.isSubmodule || after?.isSubmodule)
  if (changed.length === 0) return before
  const submodules = new Map(before)
  for (const { path, after } of changed) {
    if (after?.isSubmodule) submodules.set(path, after.id)
    else submodules.delete(path)
  }
  return submodules
}

/** What goes first, then what comes. */
async function* changesOf(
  reader: ObjectReader,
  trees: Trees,
  found: readonly Difference[],
): AsyncGenerator<HistoryChange> {
  for (const { path, before, after } of found)
    if (before !== undefined && !isRewritten(before, after)) yield { kind: 'remove', path }
  await trees.measure(found.flatMap(({ after }) => after ?? []))
  const files: Put[] = []
  for (const { path, after } of found) {
    if (after === undefined) continue
    if (after.type === 'directory') yield { kind: 'directory', path }
    else files.push({ path, entry: after })
  }
  for (const batch of batchesOf(files)) yield* contentsOf(reader, batch)
}

interface Put {
  readonly path: string
  readonly entry: TreeEntry
}

/** A file that stays one is written over, and keeps its history. */
function isRewritten(before: TreeEntry, after: TreeEntry | undefined): boolean {
  return before.type === 'file' && after?.type === 'file'
}

function* batchesOf(files: readonly Put[]): Generator<Put[]> {
  let [batch, bytes]: [Put[], number] = [[], 0]
  for (const file of files) {
    const { size = 0 } = file.entry
    if (batch.length === FILES_AT_ONCE || (batch.length > 0 && bytes + size > WHOLE_BYTES)) {
      yield batch
      batch = []
      bytes = 0
    }
    batch.push(file)
    bytes += size
  }
  if (batch.length > 0) yield batch
}

async function* contentsOf(reader: ObjectReader, batch: readonly Put[]): AsyncGenerator<HistoryChange> {
  const [only] = batch
  const long = batch.find(({ entry }) => entry.type === 'symlink' && (entry.size ?? 0) > MAX_TARGET_BYTES)
  if (long !== undefined) throw noTarget(long.path)
  if (only !== undefined && (only.entry.size ?? 0) > WHOLE_BYTES) {
    const { path, entry } = only
    yield { kind: 'file', path, mode: entry.mode, content: reader.stream(entry.id) }
    return
  }
  const blobs = await reader.objects(batch.map(({ entry }) => entry.id))
  for (const [at, { path, entry }] of batch.entries()) {
    const content = blobs[at]?.bytes ?? new Uint8Array(0)
    if (entry.type === 'symlink') yield { kind: 'symlink', path, target: targetOf(path, content) }
    else yield { kind: 'file', path, mode: entry.mode, content }
  }
}

function targetOf(path: string, bytes: Uint8Array): string {
  if (isUtf8(bytes) && bytes.length > 0 && !bytes.includes(0)) return Buffer.from(bytes).toString()
  throw noTarget(path)
}

function noTarget(path: string): VfsError {
  const detail = 'the target of the symbolic link is no path; change it in the repository'
  return new VfsError('EINVAL', path, { op: 'import', detail })
}

function assertNames({ id }: Commit, path: string, { refused: [name] }: Directory): void {
  if (name === undefined) return
  const detail = `commit ${id.slice(0, 12)} has a name that is no path of a vault, as it is not UTF-8 or not allowed; rename it in the repository`
  throw new VfsError('EINVAL', child(path, name), { op: 'import', detail })
}
