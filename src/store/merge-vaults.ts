import { VfsError } from '../vfs/index.ts'
import { mergePoint } from './files/attachments.ts'
import { type Comparison, diffFiles, type FileChange, touchedInodes } from './files/diff-files.ts'
import { type Files, ROOT_INODE } from './files/files.ts'
import type { Provenance } from './files/operation.ts'
import type { StoreHome } from './home.ts'
import { isSameContent } from './vault/content.ts'
import { encodeHead, type Head, vaultKey } from './vault/head.ts'
import { MergeError, MergePlan, type OnConflict } from './vault/merge.ts'
import type { Plan } from './vault/replica.ts'
import type { VaultLog } from './vault/vault-log.ts'

const MAX_TRIES = 20

export interface MergeRequest {
  /** The vault whose changes are taken. */
  readonly source: string
  readonly target: string
  readonly onConflict: OnConflict
  readonly by?: Provenance
}

/**
 * Brings what one vault changed into another, in one durable commit: O(changes of both). Returns those changes.
 * `MergeError` with the conflicts if both changed the same; then nothing has changed.
 */
export async function mergeVaults(home: StoreHome, request: MergeRequest): Promise<FileChange[]> {
  for (let tries = 1; ; tries++) {
    try {
      return await mergeOnce(home, request)
    } catch (error) {
      // The source was folded by another process in the middle of it.
      const isRace = error instanceof VfsError && error.code === 'ECONFLICT' && !(error instanceof MergeError)
      if (!isRace || tries === MAX_TRIES) throw error
    }
  }
}

async function mergeOnce(
  home: StoreHome,
  { source, target, onConflict, by = {} }: MergeRequest,
): Promise<FileChange[]> {
  if (source === target) {
    throw new VfsError('EINVAL', source, { op: 'merge', detail: 'a vault cannot be merged into itself' })
  }
  const [from, into] = [await home.vault(source), await home.vault(target)]
  const theirs = await from.fold()
  const base = await home.reader.resolve(() => baseOf(home, from, theirs, into))
  const apartFrom = await home.reader.resolve(() => firstApart(home, from.head, into.head))
  const taken: FileChange[][] = []
  const held = { key: vaultKey(source), bytes: encodeHead(from.head) }
  const plan: Plan = (files) => {
    assertHeld(home, held)
    const ours = files.tree.snapshot()
    const comparison = comparisonOf(home, base.root, theirs)
    const touched = touchedInodes(comparison)
    const sides = {
      base: home.filesAt(base.root),
      ours: home.filesAt(ours),
      theirs: home.filesAt(theirs),
      touched,
      apart: {
        ours: base.isOf === 'from' ? apartFrom : Number.POSITIVE_INFINITY,
        theirs: base.isOf === 'into' ? apartFrom : Number.POSITIVE_INFINITY,
      },
      names: { ours: target, theirs: source },
    }
    const merge = new MergePlan(sides, home.blobs, onConflict)
    if (onConflict === 'fail' && merge.conflicts.length > 0) throw new MergeError(merge.conflicts)
    taken.push(diffFiles({ ...comparison, touched, apartFrom: sides.apart.theirs }))
    const { operations } = merge
    if (operations.length === 0 && mergePoint(files, from.head.id)?.root === theirs) return null
    return { op: 'merge', path: '/', from: source, source: from.head.id, root: theirs, operations }
  }
  await into.submit(plan, by, () => ({ expect: [held] }))
  await into.fold({ durable: true })
  return taken.at(-1) ?? []
}

function comparisonOf({ cache, codec, blobs }: StoreHome, before: number, after: number): Comparison {
  return {
    source: cache,
    before,
    after,
    isSameValue: (one, other) => codec.isSameValue(one, other),
    sameBytes: (...files) => isSameContent(...files, blobs),
  }
}

/** ECONFLICT if the source is no longer held by what was folded: its tree might be collected before it is merged. */
function assertHeld({ reader }: StoreHome, { key, bytes }: { key: string; bytes: Uint8Array }): void {
  const found = reader.record(key)
  if (found !== undefined && Buffer.compare(found, bytes) === 0) return
  throw new VfsError('ECONFLICT', '/', { op: 'merge', detail: 'the source was folded meanwhile; try again' })
}

/** A tree that both vaults have in their past. */
interface Point {
  readonly root: number
  /** Milliseconds since the epoch. */
  readonly time: number
  /** Whose line of descent it is a tree of. */
  readonly isOf: 'from' | 'into' | 'both'
}

/**
 * The newest tree both vaults have in common: what one last took from the other or from what that grew from, or where
 * their lines of descent part. EINVAL if they have nothing in common.
 */
function baseOf(home: StoreHome, from: VaultLog, theirs: number, into: VaultLog): Point {
  const [ours, other] = [into.read(), home.filesAt(theirs)]
  const taken = pointOf(mergePoint(ours, from.head.id), 'from')
  const given = pointOf(mergePoint(other, into.head.id), 'into')
  const parted = pointOf(commonAncestor(from.head, into.head), 'both')
  const [newest] = [
    ...(isKnown(home, taken, given, from.head.id) ? [given, taken] : [taken, given]),
    ...throughAncestors(from.head, ours, 'from'),
    ...throughAncestors(into.head, other, 'into'),
    // Of two in the same millisecond, a merge came after the fork.
    parted,
  ]
    .flatMap((point) => point ?? [])
    .sort((a, b) => b.time - a.time)
  if (newest !== undefined) return newest
  const detail = 'the two vaults have no common ancestor; copy files instead'
  throw new VfsError('EINVAL', '/', { op: 'merge', detail })
}

/** Whether what was given back had what was taken in it already: then it is the newer of the two. */
function isKnown(home: StoreHome, taken: Point | undefined, given: Point | undefined, from: number): boolean {
  if (taken === undefined || given === undefined) return false
  return mergePoint(home.filesAt(given.root), from)?.root === taken.root
}

/** One vault grew from a third, and the other has taken something of that one: the earlier of both is common to them. */
function throughAncestors({ lineage }: Head, other: Files, isOf: Point['isOf']): Point[] {
  return lineage.flatMap((ancestor) => {
    const merged = mergePoint(other, ancestor.id)
    return merged === undefined ? [] : [{ ...(merged.time < ancestor.time ? merged : ancestor), isOf }]
  })
}

function pointOf(point: Omit<Point, 'isOf'> | undefined, isOf: Point['isOf']): Point | undefined {
  return point && { ...point, isOf }
}

/** The first inode number that two vaults have given to different files; 2 if they have nothing but a root in common. */
export function firstApart(home: StoreHome, one: Head, other: Head): number {
  const parted = commonAncestor(one, other)
  return parted === undefined ? ROOT_INODE + 1 : home.filesAt(parted.root).counters().nextInode
}

/** Each vault is its own line of descent, with those it grew from; the nearest one both have is where they parted. */
function commonAncestor(one: Head, other: Head): Omit<Point, 'isOf'> | undefined {
  for (const mine of lineOf(one)) {
    const theirs = lineOf(other).find(({ id }) => id === mine.id)
    if (theirs !== undefined) return mine.seq < theirs.seq ? mine : theirs
  }
  return undefined
}

function lineOf({
  id,
  root,
  seq,
  created,
  lineage,
}: Head): { id: number; root: number; seq: number; time: number }[] {
  return [{ id, root, seq, time: created }, ...lineage]
}
