import type { Engine } from '../engine.ts'
import {
  decodeSegmentRow,
  FIRST_SEGMENT_BLOB,
  type SegmentReference,
  type SegmentRow,
} from './segment-row.ts'

/** Number of rows that are read at a time. */
const ROWS_PER_READ = 1000

/** Reads rows of blobs as they are stored, in one trip where the engine can do that. */
async function readBlobRows(
  engine: Engine,
  ids: readonly number[],
): Promise<readonly (Uint8Array | undefined)[]> {
  if (engine.readBatch === undefined) return Promise.all(ids.map((id) => engine.readBlob(id)))
  const nothing = { pages: [], hashes: [], records: [], journals: [] }
  return (await engine.readBatch({ ...nothing, blobs: ids })).blobs
}

/** A blob in a segment. */
export interface SegmentBlob {
  readonly id: number
  readonly reference: SegmentReference
}

/** Yields all blobs in segments, some at a time. Throws EIO at a damaged row. */
export async function* listSegmentBlobs(engine: Engine): AsyncGenerator<readonly SegmentBlob[]> {
  for (let after = FIRST_SEGMENT_BLOB - 1; ; ) {
    const ids = await engine.listBlobs(after, ROWS_PER_READ)
    const rows = await readBlobRows(engine, ids)
    yield ids.flatMap((id, index) => {
      const bytes = rows[index]
      const row: SegmentRow | undefined = bytes && decodeSegmentRow(id, bytes)
      return row === undefined || row instanceof Uint8Array ? [] : [{ id, reference: row }]
    })
    const last = ids.at(-1)
    if (last === undefined || ids.length < ROWS_PER_READ) return
    after = last
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
