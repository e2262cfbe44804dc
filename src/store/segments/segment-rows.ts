import type { BlobSize, Engine } from '../engine.ts'
import { isDeltaBlob } from './delta-row.ts'
import {
  decodeSegmentRow,
  FIRST_SEGMENT_BLOB,
  isSegmentBlob,
  MAX_REFERENCE_BYTES,
  type SegmentReference,
  type SegmentRow,
} from './segment-row.ts'

/** Number of rows that are read at a time. */
const ROWS_PER_READ = 1000

/** Reads rows of blobs as they are stored, in one trip where the engine can do that. */
export async function readBlobRows(
  engine: Engine,
  ids: readonly number[],
): Promise<readonly (Uint8Array | undefined)[]> {
  if (engine.readBatch === undefined) return Promise.all(ids.map((id) => engine.readBlob(id)))
  const nothing = { pages: [], hashes: [], records: [], journals: [] }
  return (await engine.readBatch({ ...nothing, blobs: ids })).blobs
}

/**
 * Lists rows with their sizes. An engine that cannot list sizes reports 0 for each, so that all its rows are read: most
 * of them are references.
 */
async function listRows(engine: Engine, after: number, limit: number): Promise<readonly BlobSize[]> {
  if (engine.listBlobSizes !== undefined) return engine.listBlobSizes(after, limit)
  return (await engine.listBlobs(after, limit)).map((id) => ({ id, bytes: 0 }))
}

/** A blob in a segment. */
export interface SegmentBlob {
  readonly id: number
  readonly reference: SegmentReference
}

/** Yields all blobs in segments, some at a time. Throws EIO at a damaged row. */
export async function* listSegmentBlobs(engine: Engine): AsyncGenerator<readonly SegmentBlob[]> {
  for (let after = FIRST_SEGMENT_BLOB - 1; ; ) {
    const listed = await listRows(engine, after, ROWS_PER_READ)
    const small = listed.filter(({ id, bytes }) => bytes <= MAX_REFERENCE_BYTES && isSegmentBlob(id))
    const ids = small.map(({ id }) => id)
    const rows = await readBlobRows(engine, ids)
    yield ids.flatMap((id, index) => {
      const bytes = rows[index]
      const row: SegmentRow | undefined = bytes && decodeSegmentRow(id, bytes)
      return row === undefined || row instanceof Uint8Array ? [] : [{ id, reference: row }]
    })
    const last = listed.at(-1)
    if (last === undefined || listed.length < ROWS_PER_READ || isDeltaBlob(last.id)) return
    after = last.id
  }
}

/** Returns how many bytes of each segment rows refer to. Throws EIO at a damaged row. */
export async function measureSegmentUse(engine: Engine): Promise<Map<string, number>> {
  const used = new Map<string, number>()
  for await (const blobs of listSegmentBlobs(engine)) {
    for (const { reference } of blobs)
      used.set(reference.segment, (used.get(reference.segment) ?? 0) + reference.length)
    await new Promise((resolve) => setImmediate(resolve))
  }
  return used
}
