import { VfsError } from '../vfs/index.ts'
import { findMergePoint } from './files/attachments.ts'
import { ROOT_INODE, type VaultFiles } from './files/vault-files.ts'
import type { StoreHome } from './store-home.ts'
import type { Ancestor, VaultHead } from './vault/vault-head.ts'

/** A tree in the history of both vaults. */
interface MergeBase {
  readonly root: number
  /** The vault in whose own history the tree is. The other one merged it, unless it is `both`. */
  readonly history: 'from' | 'into' | 'both'
}

/** A state of one vault: everything up to a row of its journal. */
interface VaultState {
  readonly root: number
  /** Absent in merge points of earlier versions. */
  readonly seq?: number
  /** Milliseconds since the epoch. */
  readonly time: number
}

/** A state that both vaults know, with the lineage of its vault. */
interface MergeBaseCandidate extends MergeBase, VaultState {
  readonly vault: number
  readonly lineage: readonly Ancestor[]
}

/** Two vaults and their files. */
export interface MergedVaults {
  readonly from: { readonly head: VaultHead; readonly files: VaultFiles }
  readonly into: { readonly head: VaultHead; readonly files: VaultFiles }
}

/**
 * Finds the newest common tree of two vaults: the last merge of one into the other or its descendants, or the fork
 * point. States are ordered by what they include, never by the clock. Throws EINVAL if the vaults have no common
 * ancestor.
 */
export function findMergeBase(home: StoreHome, { from, into }: MergedVaults): MergeBase {
  const direct = [
    ...listMergedCandidates(from.head, into.files, 'from'),
    ...listMergedCandidates(into.head, from.files, 'into'),
  ]
  const candidates = [
    ...direct,
    ...listAncestorCandidates(from.head, into.files, 'from'),
    ...listAncestorCandidates(into.head, from.files, 'into'),
    // A merge is newer than the fork point.
    ...(direct.length > 0 ? [] : listForkPointCandidates(from.head, into.head)),
  ]
  const [first, ...others] = candidates
  if (first === undefined) {
    const detail = 'the two vaults have no common ancestor; copy files instead'
    throw new VfsError('EINVAL', '/', { op: 'merge', detail })
  }
  // Of two unrelated states, the first stays.
  return others.reduce(
    (best, next) => (descendsFrom(home, next, best) && !descendsFrom(home, best, next) ? next : best),
    first,
  )
}

/** Returns the first inode number that two vaults may have given to different files; 2 without a common ancestor. */
export function getFirstDivergentInode(home: StoreHome, one: VaultHead, other: VaultHead): number {
  const ancestor = findCommonAncestor(one, other)
  return ancestor === undefined
    ? ROOT_INODE + 1
    : home.trees.getFilesAt(ancestor.root).getCounters().nextInode
}

/** Returns the last state of this vault that the other merged, if there is one. */
function listMergedCandidates(
  { id, lineage }: VaultHead,
  other: VaultFiles,
  history: MergeBase['history'],
): MergeBaseCandidate[] {
  const merged = findMergePoint(other, id)
  return merged === undefined ? [] : [{ ...merged, vault: id, lineage, history }]
}

/** Returns states of a third vault: one vault descends from it and the other merged it. The earlier state is common. */
function listAncestorCandidates(
  { lineage }: VaultHead,
  other: VaultFiles,
  history: MergeBase['history'],
): MergeBaseCandidate[] {
  return lineage.flatMap((ancestor, index) => {
    const merged = findMergePoint(other, ancestor.id)
    if (merged === undefined) return []
    const { root, seq, time } = ancestor
    const state = isEarlier(merged, ancestor) ? merged : { root, seq, time }
    return [{ ...state, vault: ancestor.id, lineage: lineage.slice(index + 1), history }]
  })
}

function listForkPointCandidates(one: VaultHead, other: VaultHead): MergeBaseCandidate[] {
  const ancestor = findCommonAncestor(one, other)
  return ancestor === undefined ? [] : [{ ...ancestor, history: 'both' }]
}

/** Finds the last common state in the nearest common vault of two lineages, which include the vaults themselves. */
function findCommonAncestor(
  one: VaultHead,
  other: VaultHead,
): Omit<MergeBaseCandidate, 'history'> | undefined {
  for (const mine of listLineage(one)) {
    const theirs = listLineage(other).find(({ vault }) => vault === mine.vault)
    if (theirs !== undefined) return mine.seq < theirs.seq ? mine : theirs
  }
  return undefined
}

function listLineage({
  id,
  root,
  seq,
  created,
  lineage,
}: VaultHead): (Omit<MergeBaseCandidate, 'history'> & { seq: number })[] {
  const ancestors = lineage.map((ancestor, index) => {
    const { id: vault, root, seq, time } = ancestor
    return { vault, root, seq, time, lineage: lineage.slice(index + 1) }
  })
  return [{ vault: id, root, seq, time: created, lineage }, ...ancestors]
}

/** Reports whether one state has another in its history: its own journal, an ancestor's, or a merge. */
function descendsFrom(home: StoreHome, one: MergeBaseCandidate, other: MergeBaseCandidate): boolean {
  if (one.vault === other.vault) return !isEarlier(one, other)
  const ancestor = one.lineage.find(({ id }) => id === other.vault)
  if (ancestor !== undefined && !isEarlier(ancestor, other)) return true
  const merged = findMergePoint(home.trees.getFilesAt(one.root), other.vault)
  return merged !== undefined && (merged.root === other.root || !isEarlier(merged, other))
}

/** Compares two states of one vault; by time only if a row is absent. */
function isEarlier(one: VaultState, other: VaultState): boolean {
  if (one.seq !== undefined && other.seq !== undefined) return one.seq < other.seq
  return one.time < other.time
}
