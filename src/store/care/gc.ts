import { isVfsError } from '../../vfs/index.ts'
import type { HashRow, Sweep } from '../engine.ts'
import { isDeltaBlob } from '../segments/delta-row.ts'
import { computeBlobHash } from '../segments/hash-chunks.ts'
import { decodeSegmentRow, isSegmentBlob } from '../segments/segment-row.ts'
import { querySessions } from '../sessions/query-sessions.ts'
import type { StoreHome } from '../store-home.ts'
import { decodeUploads, type UploadRecord, uploadPrefix } from '../vault/upload.ts'
import { decodeHead, vaultKey } from '../vault/vault-head.ts'
import { readRoots } from './gc-roots.ts'
import { listOwnSegments, type SegmentSweep, sweepSegments } from './gc-segments.ts'
import type { MaintenanceOptions } from './maintenance-progress.ts'
import { type PackReport, packColdRows } from './pack-rows.ts'
import { pruneJournals } from './prune.ts'
import { ReachabilityWalk } from './reachability-walk.ts'
import { removeStaleMergePoints } from './stale-merge-points.ts'

const IDS_PER_READ = 10_000
const SWEEP_BATCH_SIZE = 500
/** Batch size on a nearly full disk: each row may need its own rewritten page. */
const SCARCE_SWEEP_BATCH_SIZE = 50
const SCARCE_BYTES = 128 * 1024 * 1024
const NO_HASH = new Uint8Array(0)
const NO_SEGMENTS: SegmentSweep = { segments: 0, bytes: 0 }
/** Age until which an upload of an earlier version, which names no session, counts as in progress. */
const LEGACY_UPLOAD_TTL_MS = 24 * 60 * 60 * 1000

/** Options of `gc`. */
export interface GcOptions extends MaintenanceOptions {
  /** Forgets file versions from before this moment. Keeps everything when absent. */
  readonly keepHistory?: Date
  /** Time other sessions have to report what they read; 10 seconds when absent. */
  readonly sessionTimeoutMs?: number
  /**
   * Age from which content in rows of a database is moved to objects, if the home has some. It counts from the first
   * collection that found the content; a day when absent.
   */
  readonly packAfterMs?: number
}

/** Result of `gc`: what it removed. */
export interface GcReport {
  readonly pages: number
  readonly blobs: number
  readonly journalRows: number
  /** Size of the removed blobs. */
  readonly bytes: number
  /** Bytes the store returned to the disk; the store reuses the rest. */
  readonly givenBack: number
  /** Number of deleted segments: files, or objects, with large content. */
  readonly segments: number
  /** Number of uploads in progress: they kept every page and blob from removal. */
  readonly uploads: number
  /** Cold content that was moved from the database to objects. */
  readonly packed: PackReport
}

/**
 * Removes what no vault, checkpoint, index or retained version leads to, while other sessions read and write.
 *
 * An unreachable page stays so: only trees derived from a held tree refer to pages. A blob can become reachable again
 * by its hash. So the collection removes hashes first: a writer that needs such a blob then stores it again with its
 * hash, and the sweep spares blobs that their hash finds. A second mark finds blobs that were reused before that.
 *
 * Segments go last: once no row names them, and no upload is about to.
 *
 * Sessions report trees they read that no record names (`StoreSession`). The collection queries them after reading
 * the roots: a later read begins at a marked tree.
 */
export async function gc(home: StoreHome, options: GcOptions = {}): Promise<GcReport> {
  const { onProgress, signal, keepHistory } = options
  if (keepHistory !== undefined) await openUnflushedVaults(home)
  await home.flushAllPages()
  // Listed before the uploads are: a segment of a later upload is none of these.
  const segments = await listOwnSegments(home.engine)
  await removeStaleMergePoints(home)
  const journalRows = await pruneJournals(home, keepHistory)
  const pages = await listAllIds((after, limit) => home.engine.listPages(after, limit))
  const blobs = await listAllIds((after, limit) => home.engine.listBlobs(after, limit))
  const total = pages.length + blobs.length
  const report = (phase: string, done: number) => {
    signal?.throwIfAborted()
    onProgress?.({ phase, done, total })
  }
  const reach = new ReachabilityWalk(home, {
    page: async (id) => {
      const page = await home.engine.readPage(id)
      return page && home.codec.decode(id, page)
    },
    blob: () => {},
    pause: () => report('marking', reach.pages.size + reach.blobs.size),
  })
  await reach.follow(await readRoots(home))
  const unused = await hashBlobs(
    home,
    blobs.filter((id) => !reach.hasBlob(id)),
    () => report('hashing', total),
  )
  const hashed = unused.filter((row) => row.hash.length > 0)
  await forEachBatch(home, hashed, (hashes) => home.engine.commit({ sweep: { hashes } }))
  const { uploads, roots: held, blobs: heldBlobs } = await collectHolds(home, options.sessionTimeoutMs)
  const roots = await readRoots(home)
  await reach.follow({ ...roots, pages: [...roots.pages, ...held] })
  await reach.addBlobs(heldBlobs)
  const deadPages = uploads > 0 ? [] : pages.filter((id) => !reach.pages.has(id))
  const deadBlobs = uploads > 0 ? [] : unused.filter(({ blob }) => !reach.hasBlob(blob))
  let swept = total - deadPages.length - deadBlobs.length
  const commitSweep = (sweep: Sweep, count: number) => {
    swept += count
    report('sweeping', swept)
    return home.engine.commit({ sweep })
  }
  await forEachBatch(home, deadPages, (pages) => commitSweep({ pages }, pages.length))
  await forEachBatch(home, deadBlobs, (blobs) => commitSweep({ blobs }, blobs.length))
  const bytes = deadBlobs.reduce((sum, { size }) => sum + size, 0)
  const removed = uploads > 0 ? NO_SEGMENTS : await sweepSegments(home, segments)
  const packed = await packColdRows(home, {
    packAfterMs: options.packAfterMs,
    report: () => report('packing', total),
  })
  const givenBack = removed.bytes + (await shrinkEngine(home, () => report('giving back', total)))
  return {
    pages: deadPages.length,
    blobs: deadBlobs.length,
    journalRows,
    bytes,
    givenBack,
    segments: removed.segments,
    uploads,
    packed,
  }
}

/** Opens vaults with unflushed rows: until a flush, the stored tree still uses what those rows removed. */
async function openUnflushedVaults(home: StoreHome): Promise<void> {
  for (const name of await home.listVaultNames()) {
    try {
      const bytes = await home.reader.run(() => home.reader.readRecord(vaultKey(name)))
      if (bytes === undefined) continue
      const { id, seq } = decodeHead(bytes)
      if ((await home.engine.readJournal(id, seq, 1)).length > 0) await home.openVault(name)
    } catch (error) {
      // Deleted meanwhile, or damaged: the mark phase reports that.
      if (!isVfsError(error, 'ENOENT') && !isVfsError(error, 'EIO')) throw error
    }
  }
}

/** Lets the engine return unused space until none is left; returns the number of bytes. */
async function shrinkEngine({ engine }: StoreHome, report: () => void): Promise<number> {
  let given = 0
  for (;;) {
    const more = (await engine.shrink?.()) ?? 0
    if (more === 0) return given
    given += more
    report()
    await new Promise((resolve) => setImmediate(resolve))
  }
}

async function listAllIds(
  list: (after: number, limit: number) => readonly number[] | Promise<readonly number[]>,
): Promise<number[]> {
  const ids: number[] = []
  for (;;) {
    const more = await list(ids.at(-1) ?? 0, IDS_PER_READ)
    for (const id of more) ids.push(id)
    if (more.length < IDS_PER_READ) return ids
  }
}

/** An unreachable blob; its hash is empty if no hash finds it. */
interface UnusedBlob extends HashRow {
  readonly size: number
}

/** Returns hash and size of blobs. */
async function hashBlobs(home: StoreHome, ids: readonly number[], report: () => void): Promise<UnusedBlob[]> {
  const all: UnusedBlob[] = []
  for (const blob of ids) {
    const row = (await home.engine.readBlob(blob)) ?? new Uint8Array(0)
    all.push(isDeltaBlob(blob) ? { blob, size: row.length, hash: NO_HASH } : hashRow(blob, row))
    if (all.length % SWEEP_BATCH_SIZE === 0) report()
  }
  return all
}

function hashRow(blob: number, row: Uint8Array): UnusedBlob {
  // What is in a segment need not be read: its row has the hash.
  const content = isSegmentBlob(blob) && row.length > 0 ? decodeSegmentRow(blob, row) : row
  const hash = content instanceof Uint8Array ? computeBlobHash(content) : content.hash
  return { blob, size: content.length, hash }
}

async function forEachBatch<T>(
  { engine }: StoreHome,
  items: readonly T[],
  work: (batch: readonly T[]) => unknown,
): Promise<void> {
  const isScarce = (engine.getFreeBytes?.() ?? Number.POSITIVE_INFINITY) < SCARCE_BYTES
  const size = isScarce ? SCARCE_SWEEP_BATCH_SIZE : SWEEP_BATCH_SIZE
  for (let start = 0; start < items.length; start += size) {
    await work(items.slice(start, start + size))
    await new Promise((resolve) => setImmediate(resolve))
  }
}

/** Returns what this and other sessions hold, and the number of uploads. Removes upload records of ended sessions. */
async function collectHolds(
  { reader, engine, session }: StoreHome,
  timeoutMs: number | undefined,
): Promise<{ uploads: number; roots: readonly number[]; blobs: readonly number[] }> {
  // Read first: a session publishes its entry before it records an upload.
  const uploads = decodeUploads(await reader.run(() => reader.listRecords(uploadPrefix)))
  const { sessionRegistry } = engine
  const others = sessionRegistry && (await querySessions(sessionRegistry, { own: session.id, timeoutMs }))
  const isLive = ({ session: id, time = 0 }: UploadRecord) =>
    id === undefined
      ? Date.now() - time < LEGACY_UPLOAD_TTL_MS
      : id === session.id || others?.ids.has(id) === true
  const dead = uploads.filter(({ upload }) => !isLive(upload))
  if (dead.length > 0) await engine.commit({ records: dead.map(({ key }) => ({ key, bytes: null })) })
  const own = session.listHeldItems()
  return {
    uploads: uploads.length - dead.length,
    roots: [...own.roots, ...(others?.roots ?? [])],
    blobs: [...own.blobs, ...(others?.blobs ?? [])],
  }
}
