/**
 * The copy-on-write store: an ordered tree per vault on any engine that stores pages, blobs, records and a journal.
 * It knows inodes and bytes, not the protocol of `vfs`; the vault backend builds a file system on it.
 * Invariant: a stored node or blob never changes; everything else is a reference to one.
 */
export { adoptTree, assertAdoptable } from './adopt-tree.ts'
export type { Damage } from './care/damage.ts'
export { type FsckReport, fsck } from './care/fsck.ts'
export { type GcOptions, type GcReport, gc } from './care/gc.ts'
export { getHomeStats, type HomeStats } from './care/home-stats.ts'
export type { MaintenanceOptions, MaintenanceProgress } from './care/maintenance-progress.ts'
export { type Loss, Salvage } from './care/salvage.ts'
export type { SalvagedFile } from './care/salvaged-tree.ts'
export { getVaultUsage, type VaultUsage } from './care/vault-usage.ts'
export { encodeChecksummedJson } from './checksummed-json.ts'
export { commitOnce, isRecordStored } from './commit-once.ts'
export type {
  Batch,
  BlobRow,
  Durability,
  Engine,
  EngineUsage,
  HashRow,
  JournalRange,
  JournalRow,
  MaybePromise,
  ReadBatch,
  ReadBatchResult,
  RecordRow,
  Sweep,
} from './engine.ts'
export { createNotLocalError, EngineReader } from './engine-reader.ts'
export { type EngineSubject, engineSuite } from './engine-suite.ts'
export { DelayedEngine, type DelayedEngineOptions } from './engines/delayed-engine.ts'
export { LevelEngine, type LevelEngineOptions } from './engines/level/level-engine.ts'
export { LmdbEngine, type LmdbEngineOptions } from './engines/lmdb/lmdb-engine.ts'
export { LmdbFileEngine } from './engines/lmdb/lmdb-file-engine.ts'
export { MemoryEngine } from './engines/memory-engine.ts'
export { openDamagedLevel, openReadOnlyEngine } from './engines/open-read-only.ts'
export { PostgresEngine, type PostgresEngineOptions } from './engines/postgres/postgres-engine.ts'
export {
  type Freshness,
  hasUrlPassword,
  hideUrlPassword,
  rememberUrlPassword,
} from './engines/postgres/postgres-url.ts'
export { SqliteEngine, type SqliteEngineOptions } from './engines/sqlite/sqlite-engine.ts'
export { applyOperation } from './files/apply.ts'
export { findXattr, listTaggedFiles, listTags, listXattrs, readMetadata } from './files/attachments.ts'
export type { FileChange, NameChange } from './files/diff-files.ts'
export { type Dentry, listDentries } from './files/directory-entries.ts'
export type {
  FileOperation,
  InodeOperation,
  JournalEntry,
  PathOperation,
  Provenance,
  StoredContent,
} from './files/operation.ts'
export { countLinks, type NamedEntry, toInlineText, toStat, VaultFiles } from './files/vault-files.ts'
export { forkFromSameBase, forkVault, forkVaultAt, forkVaultAtRow } from './fork-vault.ts'
export { type CacheEntry, LocalCache, type LocalCacheOptions } from './local-cache.ts'
export { chain } from './maybe-promise.ts'
export { getFirstDivergentInode } from './merge-base.ts'
export { type MergeRequest, mergeVaults } from './merge-vaults.ts'
export {
  type CreationAttributes,
  getJournalPath,
  type PosixAttributeChanges,
  type PosixAttributes,
  PosixFiles,
  type PosixOptions,
  type PosixReads,
  planAttributes,
  planSize,
  planWrite,
  type RenameMode,
  type StatfsReport,
  type XattrMode,
} from './posix/index.ts'
export { restoreVault } from './restore-vault.ts'
export {
  buildPatternQuery,
  buildTextQuery,
  computeScores,
  createSearchIndex,
  extractSnippets,
  indexKey,
  listIndexRoots,
  matchText,
  openSearchedTree,
  parseTextQuery,
  type SearchedTree,
  SearchIndex,
  type SearchLimits,
  type SearchReadOptions,
  type Snippet,
  type TextMatch,
  type TrigramQuery,
} from './search/index.ts'
export type { ChunkHashes } from './segments/hash-chunks.ts'
export { isSegmentName } from './segments/segment-row.ts'
export {
  MIN_SEGMENTED_BYTES,
  SEGMENT_BYTES,
  type SegmentInfo,
  type SegmentStore,
} from './segments/segment-store.ts'
export type { Hold } from './sessions/store-session.ts'
export { LEASE_MS } from './sessions/store-session.ts'
export { StoreHome } from './store-home.ts'
export {
  diffLines,
  digestSides,
  isText,
  type LineChange,
  mergeText,
  type SideNames,
  type TextSides,
} from './text/index.ts'
export { diffTrees, type EntryChange } from './tree/diff-trees.ts'
export {
  countUnstored,
  type EncodedPage,
  flushNodes,
  NodeCache,
  type NodeCacheOptions,
  PageFault,
} from './tree/node-cache.ts'
export { PageCodec, type ValueCodec } from './tree/page-codec.ts'
export { type LeafEntry, type NodeSource, Tree } from './tree/tree.ts'
export {
  type BlobRef,
  CHUNK_BYTES,
  type ContentRef,
  type DirectoryEntry,
  type Inode,
  type Timestamp,
  type TreeValue,
  treeValueCodec,
} from './tree/tree-values.ts'
export { BlobStore } from './vault/blob-store.ts'
export { type Checkpoint, decodeCheckpoint, listInheritedCheckpoints } from './vault/checkpoints.ts'
export { countPieces, readPiece } from './vault/content-pieces.ts'
export { createCheckpoint } from './vault/create-checkpoint.ts'
export { appendBytes, hashContent, readContent, storeBytes } from './vault/file-content.ts'
export { FileHistory, type JournaledVersion } from './vault/file-history.ts'
export { Journal, type NumberedJournalEntry } from './vault/journal.ts'
export {
  createLeasedError,
  decodeLease,
  encodeLease,
  type LeaseRecord,
  leaseKey,
} from './vault/lease-record.ts'
export {
  type ConflictOptions,
  type MergeConflict,
  MergeError,
  type OnConflict,
  type Resolution,
  type ResolvedText,
} from './vault/merge-plan.ts'
export { type OpenInode, OpenInodes } from './vault/open-inodes.ts'
export { patchBytes, patchSize } from './vault/patch.ts'
export type { ExtraRecords } from './vault/pending-operation.ts'
export { replayJournal } from './vault/replay-journal.ts'
export { type OperationPlan, toMoment } from './vault/replica.ts'
export { storeStream } from './vault/streamed-content.ts'
export { Upload } from './vault/upload.ts'
export type { Ancestor, VaultHead } from './vault/vault-head.ts'
export { VaultLog } from './vault/vault-log.ts'
export { quotaKey, type VaultQuota } from './vault/vault-quota.ts'
export { assertVaultName, isVaultName } from './vault-name.ts'
