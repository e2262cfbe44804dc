import type { SessionRegistry } from './sessions/session-registry.ts'

/** At once where the engine is local, later where it is a network away. */
export type MaybePromise<T> = T | Promise<T>

/** Bytes of a journal row with its place. A vault's rows have no gaps between its oldest and its newest. */
export interface JournalRow {
  readonly vault: number
  readonly seq: number
  readonly bytes: Uint8Array
}

/** Content stored once, known by id and by hash. */
export interface BlobRow {
  readonly id: number
  readonly hash: Uint8Array
  readonly bytes: Uint8Array
  /** The checksum of the bytes, where it is known. */
  readonly crc?: number
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

/** What a garbage collection takes away. */
export interface Sweep {
  readonly pages?: readonly number[]
  /** From now on nobody finds these blobs by their hash. */
  readonly hashes?: readonly HashRow[]
  /** Each is removed unless its hash leads to it: then somebody has come to need it again. */
  readonly blobs?: readonly HashRow[]
  /** Rows of a vault's journal up to a place, that one included. */
  readonly journal?: readonly { readonly vault: number; readonly upTo: number }[]
}

/**
 * Everything one commit changes, applied whole or not at all.
 * It is refused if a record in `expect` has other bytes by now, if a journal row's place is taken (somebody else
 * committed first), or if a hash in `requires` no longer leads to its blob.
 */
export interface Batch {
  readonly expect?: readonly RecordRow[]
  readonly requires?: readonly HashRow[]
  readonly records?: readonly RecordRow[]
  readonly pages?: readonly { readonly id: number; readonly bytes: Uint8Array }[]
  readonly blobs?: readonly BlobRow[]
  readonly journal?: readonly JournalRow[]
  readonly sweep?: Sweep
  /** It changes nothing that anybody can read: pages of what the journal has, the head that names them, their numbers. */
  readonly isDerived?: boolean
  /** Stores little and lets room be freed: it may use what an engine sets aside for that on a full disk. */
  readonly frees?: boolean
  /** Survive power loss before this is acknowledged, whatever the engine's usual durability. */
  readonly durable?: boolean
}

/** How much a home holds, and how much room it takes. */
export interface EngineUsage {
  readonly pages: { readonly count: number; readonly bytes: number }
  readonly blobs: { readonly count: number; readonly bytes: number }
  readonly journal: { readonly count: number; readonly bytes: number }
  /** On disk, everything included; in memory, the sum of the above. */
  readonly totalBytes: number
}

/** What acknowledged means: survives power loss; survives kill -9; may lose the last few milliseconds. */
export type Durability = 'full' | 'process' | 'relaxed'

/**
 * Lets one writer commit together what it has acknowledged one by one. While it holds the store nobody else commits, so
 * nothing it decides can be refused later; what it keeps is found committed by the next one if this process is killed.
 */
export interface GroupCommit {
  /** Holds the store from here on; false where others write too: then commit as usual. */
  begin(): boolean
  /** Survives the end of this process when it returns, as if it were committed. Only while the store is held. */
  append(batch: SideLogBatch): void
  /** Whether somebody waits for the store. */
  readonly isLockRequested: boolean
  /** Lets go of the store. What `work` commits takes the place of what was kept, whole or not at all. */
  commit(work: () => void): void
}

/** What of a batch can be kept. */
export type SideLogBatch = Pick<Batch, 'records' | 'pages' | 'blobs' | 'journal'>

/**
 * Where a home's bytes live. An engine knows nothing of files: it keeps pages and blobs by number, small records by
 * name and the journal in order, and commits batches atomically with compare-and-swap.
 */
export interface Engine extends AsyncDisposable {
  readonly name: string
  /** Whether no call ever answers with a promise, but `close`: then vaults serve callers that cannot wait, too. */
  readonly isSync?: boolean
  /** Whether every commit but a derived one is EROFS. */
  readonly isReadOnly?: boolean
  /** For whoever commits often; absent where that gains nothing. */
  readonly groupCommit?: GroupCommit | undefined
  /** Where those who have the home open show what they read; absent if only one process can have it open. */
  readonly sessionRegistry?: SessionRegistry | undefined
  readPage(id: number): MaybePromise<Uint8Array | undefined>
  readBlob(id: number): MaybePromise<Uint8Array | undefined>
  findBlob(hash: Uint8Array): MaybePromise<number | undefined>
  readRecord(key: string): MaybePromise<Uint8Array | undefined>
  /** Records whose key starts with a prefix, in the order of keys. */
  listRecords(prefix: string): MaybePromise<readonly RecordRow[]>
  /** Up to `limit` rows of a vault's journal after a place, in order. */
  readJournal(vault: number, after: number, limit: number): MaybePromise<readonly JournalRow[]>
  /** Up to `limit` ids of pages above one, in order. */
  listPages(after: number, limit: number): MaybePromise<readonly number[]>
  /** Up to `limit` ids of blobs above one, in order. */
  listBlobs(after: number, limit: number): MaybePromise<readonly number[]>
  usage(): MaybePromise<EngineUsage>
  /** What is damaged of the engine's own files, found without trusting them. Absent where reading says so. */
  findDamage?(): readonly string[]
  /** How many bytes the disk below still has for us; absent where there is no disk. */
  getFreeBytes?(): number
  /** A number that changes whenever anybody, in any process, commits. Cheap: asked before each read. */
  changeCount(): MaybePromise<number>
  /**
   * False: refused, nothing has changed. A failure throws. A local engine has changed nothing then; a remote one may
   * have, if its answer was lost. But whatever it did is done before it answers another call: so a look finds it out.
   */
  commit(batch: Batch): MaybePromise<boolean>
  /**
   * Gives back to the disk some of the room that nothing takes any more, and tells how many bytes; 0 once there is none
   * left. Absent where the engine does so by itself, or cannot.
   */
  shrink?(): MaybePromise<number>
  /** Makes everything acknowledged so far survive power loss. */
  sync(): MaybePromise<void>
  close(): Promise<void>
}
