import type { LocalCache } from './local-cache.ts'
import type { MaybePromise } from './maybe-promise.ts'
import type { SegmentStore } from './segments/segment-store.ts'
import type { SessionRegistry } from './sessions/session-registry.ts'

export type { MaybePromise } from './maybe-promise.ts'

/** A journal row and its sequence number. A vault's rows have no gaps between its oldest and its newest. */
export interface JournalRow {
  readonly vault: number
  readonly seq: number
  readonly bytes: Uint8Array
}

/** Content stored once, known by id and by hash. */
export interface BlobRow {
  readonly id: number
  readonly hash: Uint8Array
  /** The content, or an encoded `SegmentRow`. */
  readonly bytes: Uint8Array
  /** Checksum of the bytes, if known. */
  readonly crc?: number
}

/** A stored blob and the size of its row. */
export interface BlobSize {
  readonly id: number
  readonly bytes: number
}

/** A small named value: a head, a checkpoint, a counter. Null bytes delete it. */
export interface RecordRow {
  readonly key: string
  readonly bytes: Uint8Array | null
}

/** The hash of stored content and the blob that has it. */
export interface HashRow {
  readonly hash: Uint8Array
  readonly blob: number
}

/** Rows that a garbage collection removes. */
export interface Sweep {
  readonly pages?: readonly number[]
  /** Hashes that no longer find these blobs. */
  readonly hashes?: readonly HashRow[]
  /** Blobs to remove, unless the hash finds the blob again: another writer has reused it. */
  readonly blobs?: readonly HashRow[]
  /** Rows of a vault's journal up to and including `upTo`. */
  readonly journal?: readonly { readonly vault: number; readonly upTo: number }[]
}

/**
 * Everything one commit changes, applied atomically. The engine refuses it if a record in `expect` has other bytes by
 * now, if another writer took a journal row's number, or if a hash in `requires` no longer finds its blob.
 */
export interface Batch {
  readonly expect?: readonly RecordRow[]
  readonly requires?: readonly HashRow[]
  readonly records?: readonly RecordRow[]
  readonly pages?: readonly { readonly id: number; readonly bytes: Uint8Array }[]
  readonly blobs?: readonly BlobRow[]
  readonly journal?: readonly JournalRow[]
  readonly sweep?: Sweep
  /** True if readers see no change: pages of rows that the journal has, the head that names them, their ids. */
  readonly isDerived?: boolean
  /** True if it stores little and frees space: on a full disk it may use the engine's reserve. */
  readonly frees?: boolean
  /** True if it must survive power loss before it is acknowledged, whatever the engine's durability. */
  readonly durable?: boolean
}

/** Up to `limit` rows of a vault's journal after a sequence number. */
export interface JournalRange {
  readonly vault: number
  readonly after: number
  readonly limit: number
}

/** Reads of several kinds that a remote engine answers in one trip. */
export interface ReadBatch {
  readonly pages: readonly number[]
  readonly blobs: readonly number[]
  readonly hashes: readonly Uint8Array[]
  readonly records: readonly string[]
  readonly journals: readonly JournalRange[]
}

/** Results of a batch of reads; each list has the order of the request. */
export interface ReadBatchResult {
  readonly pages: readonly (Uint8Array | undefined)[]
  readonly blobs: readonly (Uint8Array | undefined)[]
  readonly hashes: readonly (number | undefined)[]
  readonly records: readonly (Uint8Array | undefined)[]
  readonly journals: readonly (readonly JournalRow[])[]
}

/** Number and size of everything in a home. */
export interface EngineUsage {
  readonly pages: { readonly count: number; readonly bytes: number }
  readonly blobs: { readonly count: number; readonly bytes: number }
  readonly journal: { readonly count: number; readonly bytes: number }
  /** Total on disk; in memory, the sum of the above. */
  readonly totalBytes: number
}

/** Guarantee of an acknowledged commit, in order: survives power loss; survives kill -9; may lose some milliseconds. */
export type Durability = 'full' | 'process' | 'relaxed'

/**
 * Commits changes together that one writer acknowledged one by one. While the writer holds the lock, no other
 * commits, so no change is refused later. If the process is killed, the next opener commits what it appended.
 */
export interface GroupCommit {
  /** Takes the store's lock; false if other processes write too, or the disk is nearly full: then commit as usual. */
  begin(): boolean
  /** Appends a batch; once it returns, the batch survives the end of this process. Requires the lock. */
  append(batch: SideLogBatch): void
  /** Reports once whether another process has requested the lock. `begin` then refuses for a while. */
  receiveLockRequest(): boolean
  /** Releases the lock. The commit in `work` replaces everything appended, atomically. */
  commit(work: () => void): void
}

/** Parts of a batch that a side log can store. */
export type SideLogBatch = Pick<Batch, 'records' | 'pages' | 'blobs' | 'journal'>

/**
 * Storage of a home. An engine knows nothing of files: it stores pages and blobs by number, small records by name and
 * the journal in order, and commits batches atomically with compare-and-swap.
 */
export interface Engine extends AsyncDisposable {
  readonly name: string
  /** True if no call but `close` returns a promise: then vaults also serve synchronous callers. */
  readonly isSync?: boolean
  /** True if every commit throws EROFS, except those of derived data and empty ones. */
  readonly isReadOnly?: boolean
  /** Group commit for frequent writers; absent where it gains nothing. */
  readonly groupCommit?: GroupCommit | undefined
  /** Pages and blobs on this machine, ahead of `readBatch`; absent if the engine is on this machine itself. */
  readonly localCache?: LocalCache | undefined
  /**
   * Large content outside the engine, to which rows of blobs from `FIRST_SEGMENT_BLOB` on refer. The first commit of
   * such a row raises the format of the store. Absent where the engine has all content itself.
   */
  readonly segments?: SegmentStore | undefined
  /**
   * True if rows of blobs from `FIRST_DELTA_BLOB` on may have content as a difference from that of other blobs. The first
   * commit of such a row raises the format of the store, too.
   */
  readonly storesDeltas?: boolean
  /** Registry of what each opener reads; absent if only one process can open the home. */
  readonly sessionRegistry?: SessionRegistry | undefined
  readPage(id: number): MaybePromise<Uint8Array | undefined>
  readBlob(id: number): MaybePromise<Uint8Array | undefined>
  findBlob(hash: Uint8Array): MaybePromise<number | undefined>
  readRecord(key: string): MaybePromise<Uint8Array | undefined>
  /**
   * Reads many values in one trip. An engine that has it is asked for pages ahead of their use; absent where a read
   * costs no trip. A record is never older than the journal rows read with it.
   */
  readBatch?(batch: ReadBatch): Promise<ReadBatchResult>
  /** Returns the records whose key starts with a prefix, in the order of keys. */
  listRecords(prefix: string): MaybePromise<readonly RecordRow[]>
  /** Returns up to `limit` rows of a vault's journal after a sequence number, in order. */
  readJournal(vault: number, after: number, limit: number): MaybePromise<readonly JournalRow[]>
  /** Returns up to `limit` page ids above `after`, in order. */
  listPages(after: number, limit: number): MaybePromise<readonly number[]>
  /** Returns up to `limit` blob ids above `after`, in order. */
  listBlobs(after: number, limit: number): MaybePromise<readonly number[]>
  /**
   * As `listBlobs`, with the size of each row. An engine that has this and segments keeps new content as rows only for a
   * while: collections pack cold rows into segments.
   */
  listBlobSizes?(after: number, limit: number): MaybePromise<readonly BlobSize[]>
  usage(): MaybePromise<EngineUsage>
  /** Lists damage in the engine's own files without trusting them. Absent where reads detect it. */
  findDamage?(): readonly string[]
  /** Returns the free bytes of the disk; absent for an engine without a disk. */
  getFreeBytes?(): number
  /**
   * Returns a number that changes with every commit of any process; for a vault, those that do not concern it may be
   * left out. Cheap: called before each read.
   */
  changeCount(vault?: number): MaybePromise<number>
  /** Makes the next change count the store's own. Absent where it always is. */
  expireChangeCount?(): void
  /**
   * Runs synchronous work whose reads see one committed state, which saves a check for each of them. A commit inside
   * ends that. Absent where it gains nothing.
   */
  readTogether?<T>(work: () => T): T
  /**
   * Waits for the turn to commit to a vault: commits of other processes wait until this one has committed, or ends its
   * turn. Undefined if it gets none. Absent where a writer catches up as fast as others commit.
   */
  takeTurn?(vault: number): Promise<AsyncDisposable | undefined>
  /**
   * Commits a batch; false if it was refused and nothing has changed. A failure throws. A local engine has changed
   * nothing then; a remote one may have, if its response was lost. It finishes the commit before it serves another
   * call, so a read reveals the outcome.
   */
  commit(batch: Batch): MaybePromise<boolean>
  /**
   * Returns unused space to the disk; reports the number of bytes, 0 once none is left. Absent where the engine does
   * so by itself, or cannot.
   */
  shrink?(): MaybePromise<number>
  /** Makes everything acknowledged so far survive power loss. */
  sync(): MaybePromise<void>
  close(): Promise<void>
}
