import { isVfsError, VfsError } from '../../vfs/index.ts'
import type { BlobRow, Engine } from '../engine.ts'
import { createSegmentName, encodeReference } from '../segments/segment-row.ts'
import { listSegmentBlobs, measureSegmentUse, type SegmentBlob } from '../segments/segment-rows.ts'
import { SEGMENT_BYTES, type SegmentInfo, type SegmentStore } from '../segments/segment-store.ts'
import type { StoreHome } from '../store-home.ts'
import { Upload } from '../vault/upload.ts'

/** A segment is rewritten if less than this part of it is in use. */
const MIN_USED_PART = 0.5
const REWRITE_FAILURES = ['ENOSPC', 'EIO', 'EUNAVAILABLE'] as const
const NO_HASH = new Uint8Array(0)

/** Segments that a collection deleted. */
export interface SegmentSweep {
  readonly segments: number
  /** Their size, less the content that was moved to new ones. */
  readonly bytes: number
}

/** Lists the segments that a collection may delete. */
export async function listOwnSegments({ segments }: Engine): Promise<readonly SegmentInfo[]> {
  return segments === undefined || segments.readOnlyReason !== undefined ? [] : segments.list()
}

/**
 * Deletes the segments that no row names, and rewrites those of which little is in use.
 *
 * Called after the rows are removed, if no upload is in progress, with a list from before the sessions were queried.
 * Then each listed segment belongs to rows that are stored by now, or to an upload that is over.
 */
export async function sweepSegments(home: StoreHome, listed: readonly SegmentInfo[]): Promise<SegmentSweep> {
  const { segments: store } = home.engine
  if (store === undefined || listed.length === 0) return { segments: 0, bytes: 0 }
  const used = await tryMeasureUse(home)
  if (used === undefined) return { segments: 0, bytes: 0 }
  const unused = listed.filter(({ name }) => !used.has(name))
  for (const { name } of unused) await store.delete(name)
  const sparse = listed.filter(({ name, size }) => isSparse(used.get(name), size))
  const rewritten = sparse.length === 0 ? 0 : await rewriteSegments(home, store, sparse)
  const deleted = rewritten === 0 ? unused : [...unused, ...sparse]
  return { segments: deleted.length, bytes: deleted.reduce((sum, { size }) => sum + size, 0) - rewritten }
}

function isSparse(used: number | undefined, size: number): boolean {
  return used !== undefined && used < size * MIN_USED_PART
}

/** Measures the used bytes of segments; undefined if a row is damaged: its segment is unknown, so all of them stay. */
async function tryMeasureUse({ engine }: StoreHome): Promise<Map<string, number> | undefined> {
  try {
    return await measureSegmentUse(engine)
  } catch (error) {
    if (isVfsError(error, 'EIO')) return undefined
    throw error
  }
}

/**
 * Moves what is in use to new segments, then deletes the old ones. Returns the number of moved bytes; 0 if it failed.
 */
async function rewriteSegments(
  home: StoreHome,
  store: SegmentStore,
  sparse: readonly SegmentInfo[],
): Promise<number> {
  const names = new Set(sparse.map(({ name }) => name))
  // Held as an upload: another collection must not delete a segment that its rows do not name yet.
  await using upload = new Upload(home.blobs)
  await upload.hold()
  try {
    let moved = 0
    const writer = new SegmentRewriter(store, upload)
    for await (const blobs of listSegmentBlobs(home.engine)) {
      for (const blob of blobs) {
        if (!names.has(blob.reference.segment)) continue
        moved += blob.reference.length
        await writer.move(blob)
      }
    }
    await writer.flush()
    for (const name of names) await store.delete(name)
    return moved
  } catch (error) {
    // The disk is full, a segment is damaged, or another collection is faster: the old ones stay.
    if (REWRITE_FAILURES.some((code) => isVfsError(error, code))) return 0
    throw error
  }
}

/** Copies content to new segments and lets its rows refer to them. */
class SegmentRewriter {
  readonly #store: SegmentStore
  readonly #upload: Upload
  #waiting: { readonly blob: SegmentBlob; readonly bytes: Uint8Array }[] = []
  #waitingBytes = 0

  constructor(store: SegmentStore, upload: Upload) {
    this.#store = store
    this.#upload = upload
  }

  /** Adds content. Throws EIO if it cannot be read whole. */
  async move(blob: SegmentBlob): Promise<void> {
    const { segment, offset, length } = blob.reference
    const bytes = await this.#store.read(segment, offset, length)
    if (bytes?.length !== length) throw createDamageError(this.#store.locate(segment))
    this.#waiting.push({ blob, bytes })
    this.#waitingBytes += length
    if (this.#waitingBytes >= SEGMENT_BYTES) await this.flush()
  }

  /** Writes the content that waits into a new segment, and commits its rows. */
  async flush(): Promise<void> {
    if (this.#waiting.length === 0) return
    const moved = this.#waiting
    this.#waiting = []
    this.#waitingBytes = 0
    const segment = createSegmentName()
    await this.#store.put(
      segment,
      moved.map(({ bytes }) => bytes),
    )
    let offset = 0
    const blobs: BlobRow[] = moved.map(({ blob: { id, reference } }) => {
      const row = encodeReference({ ...reference, segment, offset })
      offset += reference.length
      // Its hash stays as it is: a concurrent collection may have removed it.
      return { id, hash: NO_HASH, bytes: row }
    })
    await this.#upload.commitRows(blobs)
  }
}

function createDamageError(path: string): VfsError {
  return new VfsError('EIO', path, { op: 'gc', detail: `the segment ${path} is damaged; run fsck` })
}
