import { isVfsError } from '../../vfs/index.ts'
import { isDeltaBlob, readDeltaBlob } from '../segments/delta-row.ts'
import { readSegmentBlob } from '../segments/read-segment.ts'
import { decodeSegmentRow, isSegmentBlob } from '../segments/segment-row.ts'
import { measureSegmentUse } from '../segments/segment-rows.ts'
import type { SegmentInfo } from '../segments/segment-store.ts'
import type { StoreHome } from '../store-home.ts'
import { uploadPrefix } from '../vault/upload.ts'

/** Reads the content of a blob past every cache; undefined if it is missing. EIO if its segment is, with the path. */
export async function readBlobContent(home: StoreHome, id: number): Promise<Uint8Array | undefined> {
  const { engine } = home
  const readRow = (row: number) => engine.readBlob(row)
  if (isDeltaBlob(id)) return readDeltaBlob(id, readRow, (base) => readBlobContent(home, base))
  if (!isSegmentBlob(id)) return engine.readBlob(id)
  return readSegmentBlob(engine.segments, id, () => engine.readBlob(id))
}

/** Returns where the content of a blob is, for messages; empty if it is in the store itself. */
export async function describeBlobSegment({ engine }: StoreHome, id: number): Promise<string> {
  if (!isSegmentBlob(id)) return ''
  const bytes = await engine.readBlob(id)
  const row = bytes && decodeSegmentRow(id, bytes)
  if (row === undefined || row instanceof Uint8Array) return ''
  return ` in the segment ${engine.segments?.locate(row.segment) ?? row.segment}`
}

/** Returns the paths of segments that no row names; none while an upload may still store such rows. */
export async function listOrphanedSegments(
  { engine, reader }: StoreHome,
  listed: readonly SegmentInfo[],
): Promise<string[]> {
  const { segments } = engine
  // Those of the original home are unknown here.
  const isOwner = segments?.readOnlyReason === undefined
  if (segments === undefined || !isOwner || listed.length === 0) return []
  const uploads = await reader.run(() => reader.listRecords(uploadPrefix))
  if (uploads.length > 0) return []
  try {
    const used = await measureSegmentUse(engine)
    return listed.filter(({ name }) => !used.has(name)).map(({ name }) => segments.locate(name))
  } catch (error) {
    // A row is damaged, so its segment is unknown.
    if (isVfsError(error, 'EIO')) return []
    throw error
  }
}
