import { isUtf8 } from 'node:buffer'
import { child, VfsError } from '../../../vfs/index.ts'
import type { HistoryChange, HistoryStep } from '../../vault/index.ts'
import type { Commit } from '../commit-object.ts'
import { findDifferences, type GitDifference } from '../diff-git-trees.ts'
import type { ObjectReader } from '../object-reader.ts'
import { readCommit } from '../open-git.ts'
import { TreeCache } from '../tree-cache.ts'
import { type GitDirectory, MAX_TARGET_BYTES, type TreeEntry } from '../tree-object.ts'
import { type Submodules, toCheckpointMeta } from './commit-notes.ts'

export const TRACE_PREFIX = 'git:'
/** Largest content that is read into memory, several files together. */
const MAX_BUFFERED_BYTES = 4 * 1024 * 1024
const FILES_PER_BATCH = 256
/** Digits of a commit id in the name of its checkpoint. */
const SHORT_ID_LENGTH = 12

/** A commit that a checkpoint came from. */
export interface KnownCommit {
  readonly checkpoint: string
  readonly submodules: Submodules
}

/**
 * Converts commits in order to history steps, each with the changes since its first parent, which is known or comes
 * earlier. Adds each commit to the known ones. EINVAL for names that no path can have, and for invalid link targets.
 * @param takenNames names of existing checkpoints.
 */
export async function* toHistorySteps(
  reader: ObjectReader,
  ids: readonly string[],
  known: Map<string, KnownCommit>,
  takenNames: ReadonlySet<string>,
): AsyncGenerator<HistoryStep> {
  const trees = new TreeCache(reader)
  const names = new Set(takenNames)
  for (const id of ids) {
    const commit = await readCommit(reader, id)
    const [parent] = commit.parents
    const before = parent === undefined ? undefined : known.get(parent)
    const root = parent === undefined ? undefined : (await readCommit(reader, parent)).tree
    const found = await findDifferences({ root, trees }, { root: commit.tree, trees }, (path, directory) =>
      assertNames(commit, path, directory),
    )
    const submodules = applySubmoduleChanges(before?.submodules ?? new Map(), found)
    const shortId = id.slice(0, SHORT_ID_LENGTH)
    const checkpoint = names.has(shortId) ? id : shortId
    names.add(checkpoint)
    known.set(id, { checkpoint, submodules })
    yield {
      name: checkpoint,
      base: before?.checkpoint,
      description: commit.message.split('\n', 1)[0] ?? '',
      meta: toCheckpointMeta(commit, submodules),
      time: commit.time,
      trace: TRACE_PREFIX + id,
      changes: () => readChanges(reader, trees, found),
    }
  }
}

/** Applies the changes to the submodules. Returns the same map if none changed. */
function applySubmoduleChanges(before: Submodules, found: readonly GitDifference[]): Submodules {
  const changed = found.filter(({ before, after }) => before?.isSubmodule || after?.isSubmodule)
  if (changed.length === 0) return before
  const submodules = new Map(before)
  for (const { path, after } of changed) {
    if (after?.isSubmodule) submodules.set(path, after.id)
    else submodules.delete(path)
  }
  return submodules
}

/** Yields removals first, then additions. */
async function* readChanges(
  reader: ObjectReader,
  trees: TreeCache,
  found: readonly GitDifference[],
): AsyncGenerator<HistoryChange> {
  for (const { path, before, after } of found)
    if (before !== undefined && !isRewritten(before, after)) yield { kind: 'remove', path }
  await trees.loadSizes(found.flatMap(({ after }) => after ?? []))
  const files: FilePut[] = []
  for (const { path, after } of found) {
    if (after === undefined) continue
    if (after.type === 'directory') yield { kind: 'directory', path }
    else files.push({ path, entry: after })
  }
  for (const batch of splitBatches(files)) yield* readContents(reader, batch)
}

interface FilePut {
  readonly path: string
  readonly entry: TreeEntry
}

/** True if a file stays a file: it is overwritten and keeps its history. */
function isRewritten(before: TreeEntry, after: TreeEntry | undefined): boolean {
  return before.type === 'file' && after?.type === 'file'
}

function* splitBatches(files: readonly FilePut[]): Generator<FilePut[]> {
  let [batch, bytes]: [FilePut[], number] = [[], 0]
  for (const file of files) {
    const { size = 0 } = file.entry
    if (batch.length === FILES_PER_BATCH || (batch.length > 0 && bytes + size > MAX_BUFFERED_BYTES)) {
      yield batch
      batch = []
      bytes = 0
    }
    batch.push(file)
    bytes += size
  }
  if (batch.length > 0) yield batch
}

async function* readContents(reader: ObjectReader, batch: readonly FilePut[]): AsyncGenerator<HistoryChange> {
  const [first] = batch
  const tooLong = batch.find(({ entry }) => entry.type === 'symlink' && (entry.size ?? 0) > MAX_TARGET_BYTES)
  if (tooLong !== undefined) throw createTargetError(tooLong.path)
  if (first !== undefined && (first.entry.size ?? 0) > MAX_BUFFERED_BYTES) {
    const { path, entry } = first
    yield { kind: 'file', path, mode: entry.mode, content: reader.stream(entry.id) }
    return
  }
  const blobs = await reader.objects(batch.map(({ entry }) => entry.id))
  for (const [index, { path, entry }] of batch.entries()) {
    const content = blobs[index]?.bytes ?? new Uint8Array(0)
    if (entry.type === 'symlink') yield { kind: 'symlink', path, target: decodeTarget(path, content) }
    else yield { kind: 'file', path, mode: entry.mode, content }
  }
}

function decodeTarget(path: string, bytes: Uint8Array): string {
  if (isUtf8(bytes) && bytes.length > 0 && !bytes.includes(0)) return Buffer.from(bytes).toString()
  throw createTargetError(path)
}

function createTargetError(path: string): VfsError {
  const detail = 'the target of the symbolic link is not a valid path; change it in the repository'
  return new VfsError('EINVAL', path, { op: 'import', detail })
}

function assertNames({ id }: Commit, path: string, { refused: [name] }: GitDirectory): void {
  if (name === undefined) return
  const detail = `commit ${id.slice(0, SHORT_ID_LENGTH)} has a file name that is not UTF-8 or not allowed in a vault; rename the file in the repository`
  throw new VfsError('EINVAL', child(path, name), { op: 'import', detail })
}
