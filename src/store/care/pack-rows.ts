import { randomUUID } from 'node:crypto'
import { isVfsError } from '../../vfs/index.ts'
import { decodeChecksummedJson, encodeChecksummedJson } from '../checksummed-json.ts'
import type { BlobRow, BlobSize, Engine } from '../engine.ts'
import { computeBlobHash } from '../segments/hash-chunks.ts'
import {
  createSegmentName,
  decodeSegmentRow,
  encodeReference,
  FIRST_SEGMENT_BLOB,
  isSegmentBlob,
  MAX_REFERENCE_BYTES,
  type SegmentRow,
} from '../segments/segment-row.ts'
import { readBlobRows } from '../segments/segment-rows.ts'
import { SEGMENT_BYTES, type SegmentStore } from '../segments/segment-store.ts'
import type { StoreHome } from '../store-home.ts'
import { Upload } from '../vault/upload.ts'

const PACKING_KEY = 'packing'
const DAY_MS = 24 * 60 * 60 * 1000
/** Number of sizes that are read at a time. */
const SIZES_PER_READ = 10_000
/** Bytes of rows that are read at a time. */
const BYTES_PER_READ = 4 * 1024 * 1024
/** Limit of the rows that one commit changes. */
const MAX_ROWS = 4096
/** Fewer bytes stay rows until there are more: an object costs more than they do. */
const MIN_PACKED_BYTES = 1024 * 1024
/** Marks are at least this part of the age apart. */
const MARKS_PER_AGE = 24
const NO_HASH = new Uint8Array(0)

interface PackOptions {
  /** Age from which rows are packed, as far as collections have noted it; a day when absent. */
  readonly packAfterMs?: number | undefined
  /** Called after each segment. Throws to stop. */
  readonly report: () => void
}

/** Content that was moved from rows to segments. */
export interface PackReport {
  readonly blobs: number
  readonly bytes: number
  /** Reason why the rest stays in rows for now. */
  readonly problem?: string
}

/** Record of the packing of a home. */
interface PackingState {
  /** Identity of the process that packs now, or did so last. */
  readonly packer: string
  /** The newest blob at some moments, in milliseconds since the epoch, the oldest first. */
  readonly marks: readonly { readonly time: number; readonly blob: number }[]
}

/**
 * Moves the content of cold rows into segments. A row is cold if an earlier collection, long enough ago, found it. One
 * process packs at a time: its commits expect its own name in the record. Does nothing for an engine whose rows stay.
 *
 * After a failure the rest stays as it is, for a later collection. Ids do not say when a row was written, as each process
 * has a block of them, so every collection looks at all sizes.
 */
export async function packColdRows(home: StoreHome, options: PackOptions): Promise<PackReport> {
  const { engine } = home
  const { segments } = engine
  if (segments === undefined || engine.listBlobSizes === undefined) return { blobs: 0, bytes: 0 }
  const { readOnlyReason } = segments
  if (readOnlyReason !== undefined) return { blobs: 0, bytes: 0, problem: readOnlyReason }
  const stored = (await engine.readRecord(PACKING_KEY)) ?? null
  try {
    const { state, upTo } = advanceMarks(await findNewestBlob(engine, stored), stored, options.packAfterMs)
    const claim = encodeChecksummedJson(state)
    const expect = [{ key: PACKING_KEY, bytes: stored }]
    const isFirst = await engine.commit({ expect, records: [{ key: PACKING_KEY, bytes: claim }] })
    if (!isFirst || upTo === undefined) return { blobs: 0, bytes: 0 }
    // Held as an upload: another collection must not delete a segment that its rows do not name yet.
    await using upload = new Upload(home.blobs)
    await upload.hold()
    return await new RowPacker(engine, segments, { upload, claim, report: options.report }).pack(upTo)
  } catch (error) {
    // A collection has done its other work by now, so this is no failure of it.
    if (!isVfsError(error)) throw error
    return { blobs: 0, bytes: 0, problem: error.message }
  }
}

/** Returns the newest blob, or the newest one that is known. */
async function findNewestBlob(engine: Engine, stored: Uint8Array | null): Promise<number> {
  let newest = readState(stored).marks.at(-1)?.blob ?? FIRST_SEGMENT_BLOB - 1
  for (;;) {
    const ids = await engine.listBlobs(newest, SIZES_PER_READ)
    newest = ids.at(-1) ?? newest
    if (ids.length < SIZES_PER_READ) return newest
  }
}

/** Adds a mark for now, and returns the newest blob that is old enough to be packed; undefined if none is. */
function advanceMarks(
  newest: number,
  stored: Uint8Array | null,
  packAfterMs = DAY_MS,
): { readonly state: PackingState; readonly upTo: number | undefined } {
  const { packer, marks } = readState(stored)
  const now = Date.now()
  // One from a clock that was ahead would hold up the others.
  const past = marks.filter(({ time }) => time <= now)
  const isDue = now - (past.at(-1)?.time ?? 0) >= packAfterMs / MARKS_PER_AGE
  const known = isDue ? [...past, { time: now, blob: newest }] : past
  const cold = known.findLast(({ time }) => time <= now - packAfterMs)
  const kept = known.filter(({ time }) => time >= (cold?.time ?? 0))
  // Without anything to pack, another process that does goes on.
  return { state: { packer: cold === undefined ? packer : randomUUID(), marks: kept }, upTo: cold?.blob }
}

function readState(stored: Uint8Array | null): PackingState {
  if (stored === null) return { packer: '', marks: [] }
  return decodeChecksummedJson<PackingState>(stored, PACKING_KEY)
}

/** The content of a row that waits for its segment. */
interface WaitingRow {
  readonly id: number
  readonly content: Uint8Array
}

class RowPacker {
  readonly #engine: Engine
  readonly #segments: SegmentStore
  readonly #upload: Upload
  readonly #claim: Uint8Array
  readonly #report: () => void
  #waiting: WaitingRow[] = []
  #waitingBytes = 0
  #packed: PackReport = { blobs: 0, bytes: 0 }

  constructor(
    engine: Engine,
    segments: SegmentStore,
    { upload, claim, report }: Pick<PackOptions, 'report'> & { upload: Upload; claim: Uint8Array },
  ) {
    this.#engine = engine
    this.#segments = segments
    this.#upload = upload
    this.#claim = claim
    this.#report = report
  }

  /** Packs all rows up to a blob. After a failure the report has the reason. */
  async pack(upTo: number): Promise<PackReport> {
    try {
      for (let last = FIRST_SEGMENT_BLOB - 1; last < upTo; ) {
        const listed = (await this.#engine.listBlobSizes?.(last, SIZES_PER_READ)) ?? []
        const rows = listed.filter(
          ({ id, bytes }) => id <= upTo && bytes > MAX_REFERENCE_BYTES && isSegmentBlob(id),
        )
        for (const part of splitBySize(rows)) await this.#add(part)
        last = listed.length < SIZES_PER_READ ? upTo : (listed.at(-1)?.id ?? upTo)
      }
      if (this.#waitingBytes >= MIN_PACKED_BYTES) await this.#flush()
      return this.#packed
    } catch (error) {
      if (!isVfsError(error)) throw error
      return { ...this.#packed, problem: error.message }
    }
  }

  async #add(ids: readonly number[]): Promise<void> {
    const rows = await readBlobRows(this.#engine, ids)
    for (const [index, id] of ids.entries()) {
      const bytes = rows[index]
      const content = bytes && decodeOrSkip(id, bytes)
      // Removed or packed meanwhile, or damaged.
      if (!(content instanceof Uint8Array)) continue
      this.#waiting.push({ id, content })
      this.#waitingBytes += content.length
      if (this.#waitingBytes >= SEGMENT_BYTES || this.#waiting.length === MAX_ROWS) await this.#flush()
    }
  }

  /** Stores the content that waits in a segment, and commits its rows. Throws EUNAVAILABLE if another process packs. */
  async #flush(): Promise<void> {
    const [moved, bytes] = [this.#waiting, this.#waitingBytes]
    this.#waiting = []
    this.#waitingBytes = 0
    const segment = createSegmentName()
    await this.#segments.put(
      segment,
      moved.map(({ content }) => content),
    )
    let offset = 0
    const rows: BlobRow[] = moved.map(({ id, content }) => {
      const hash = computeBlobHash(content)
      const row = encodeReference({ segment, offset, length: content.length, hash })
      offset += content.length
      // Its hash stays as it is: a concurrent collection may have removed it.
      return { id, hash: NO_HASH, bytes: row }
    })
    await this.#upload.commitRows(rows, [{ key: PACKING_KEY, bytes: this.#claim }])
    this.#packed = { blobs: this.#packed.blobs + moved.length, bytes: this.#packed.bytes + bytes }
    this.#report()
  }
}

/** Decodes a row; undefined for a damaged one, which fsck reports. */
function decodeOrSkip(id: number, bytes: Uint8Array): SegmentRow | undefined {
  try {
    return decodeSegmentRow(id, bytes)
  } catch (error) {
    if (isVfsError(error, 'EIO')) return undefined
    throw error
  }
}

/** Splits rows into lists of a few megabytes. */
function splitBySize(rows: readonly BlobSize[]): number[][] {
  const parts: number[][] = []
  let size = Number.POSITIVE_INFINITY
  for (const { id, bytes } of rows) {
    if (size >= BYTES_PER_READ) {
      parts.push([])
      size = 0
    }
    parts.at(-1)?.push(id)
    size += bytes
  }
  return parts
}
