import { isVfsError, VfsError } from '../vfs/index.ts'
import { findMergePoint } from './files/attachments.ts'
import { diffFiles, type FileChange, listChangedInodes, type TreeComparison } from './files/diff-files.ts'
import type { Provenance } from './files/operation.ts'
import { findMergeBase, getFirstDivergentInode } from './merge-base.ts'
import type { StoreHome } from './store-home.ts'
import { isSameContent } from './vault/file-content.ts'
import { type ConflictOptions, MergeError, MergePlan } from './vault/merge-plan.ts'
import type { OperationPlan } from './vault/replica.ts'
import { encodeHead, vaultKey } from './vault/vault-head.ts'

const MAX_TRIES = 20

export interface MergeRequest extends ConflictOptions {
  /** Name of the vault to merge from. */
  readonly source: string
  /** Name of the vault to merge into. */
  readonly target: string
  /** Changes nothing, and returns what would change. */
  readonly isTrial?: boolean
  readonly provenance?: Provenance
}

/**
 * Merges the changes of one vault into another in one durable commit: O(changes of both). Returns those changes, or
 * none if the target has them all.
 * `MergeError` with the conflicts if both changed the same and `onConflict` is `fail`; then nothing has changed.
 * EINVAL for a vault and itself and for unrelated vaults, ENOENT for a missing one.
 */
export async function mergeVaults(home: StoreHome, request: MergeRequest): Promise<FileChange[]> {
  for (let tries = 1; ; tries++) {
    try {
      return await home.session.withHolds((hold) => mergeOnce(home, request, hold))
    } catch (error) {
      // Another process changed or flushed the source meanwhile.
      const isRace = isVfsError(error, 'ECONFLICT') && !(error instanceof MergeError)
      if (!isRace || tries === MAX_TRIES) throw error
    }
  }
}

async function mergeOnce(
  home: StoreHome,
  { source, target, isTrial = false, provenance = {}, ...options }: MergeRequest,
  hold: (root: number) => number,
): Promise<FileChange[]> {
  if (source === target) {
    throw new VfsError('EINVAL', source, { op: 'merge', detail: 'a vault cannot be merged into itself' })
  }
  const [from, into] = [await home.openVault(source), await home.openVault(target)]
  const theirs = hold(await from.flushPages())
  const { head } = from
  if (head.root !== theirs) throw createSourceChangedError()
  const base = await home.reader.run(() =>
    findMergeBase(home, {
      from: { head, files: home.trees.getFilesAt(theirs) },
      into: { head: into.head, files: into.readFiles() },
    }),
  )
  hold(base.root)
  const firstDivergent = await home.reader.run(() => getFirstDivergentInode(home, head, into.head))
  /** Of each run of the plan; the last one counts. */
  const changes: FileChange[][] = []
  const sourceRecord = { key: vaultKey(source), bytes: encodeHead(head) }
  const plan: OperationPlan = (files) => {
    assertSourceUnchanged(home, sourceRecord)
    const ours = files.tree.snapshot()
    const comparison = createComparison(home, base.root, theirs)
    const touched = listChangedInodes(comparison)
    const sides = {
      base: home.trees.getFilesAt(base.root),
      ours: home.trees.getFilesAt(ours),
      theirs: home.trees.getFilesAt(theirs),
      touched,
      apart: {
        ours: base.history === 'from' ? firstDivergent : Number.POSITIVE_INFINITY,
        theirs: base.history === 'into' ? firstDivergent : Number.POSITIVE_INFINITY,
      },
      names: { ours: target, theirs: source },
    }
    const merge = new MergePlan(sides, home.blobs, options)
    if (options.onConflict === 'fail' && merge.conflicts.length > 0) throw new MergeError(merge.conflicts)
    const { operations } = merge
    // Without operations the target has all of it already.
    const apartFrom = sides.apart.theirs
    changes.push(operations.length === 0 ? [] : diffFiles({ ...comparison, touched, apartFrom }))
    if (isTrial || (operations.length === 0 && findMergePoint(files, head.id)?.root === theirs)) return null
    const { id, seq } = head
    return { op: 'merge', path: '/', from: source, source: id, root: theirs, seq, operations }
  }
  await into.submit(plan, provenance, () => ({ expect: [sourceRecord] }))
  if (!isTrial) await into.sync()
  return changes.at(-1) ?? []
}

function createComparison({ cache, codec, blobs }: StoreHome, before: number, after: number): TreeComparison {
  return {
    source: cache,
    before,
    after,
    isSameValue: (one, other) => codec.isSameValue(one, other),
    sameBytes: (...files) => isSameContent(...files, blobs),
  }
}

/** ECONFLICT if the source's head no longer names the flushed tree: a collection could remove it before the merge. */
function assertSourceUnchanged(
  { reader }: StoreHome,
  { key, bytes }: { key: string; bytes: Uint8Array },
): void {
  const found = reader.readRecord(key)
  if (found !== undefined && Buffer.compare(found, bytes) === 0) return
  throw createSourceChangedError()
}

function createSourceChangedError(): VfsError {
  return new VfsError('ECONFLICT', '/', {
    op: 'merge',
    detail: 'another process changed the source vault during the merge; try again',
  })
}
