/**
 * The copy-on-write store: an ordered tree per vault on any engine that keeps pages, blobs, records and a journal.
 * It knows inodes and bytes, not the protocol of `vfs`; the vault backend makes a file system of it.
 * Invariant: a node or blob that is stored never changes; everything else is a reference to one.
 */
export type { Damage } from './care/damage.ts'
export { type FsckReport, fsck } from './care/fsck.ts'
export { type GcOptions, type GcReport, gc } from './care/gc.ts'
export type { LongWork, Progress } from './care/progress.ts'
export { type Loss, Salvage } from './care/salvage.ts'
export type { SalvagedFile } from './care/salvaged-tree.ts'
export { type HomeStats, stats } from './care/stats.ts'
export { usageOf, type VaultUsage } from './care/vault-usage.ts'
export type {
  Answer,
  Batch,
  BlobRow,
  Durability,
  Engine,
  EngineUsage,
  HashRow,
  JournalRow,
  RecordRow,
  Sweep,
} from './engine.ts'
export { type EngineSubject, engineSuite } from './engine-suite.ts'
export { DelayedEngine } from './engines/delayed-engine.ts'
export { LevelEngine, type LevelEngineOptions } from './engines/level-engine.ts'
export { LmdbEngine, type LmdbEngineOptions } from './engines/lmdb-engine.ts'
export { LmdbFileEngine } from './engines/lmdb-file-engine.ts'
export { MemoryEngine } from './engines/memory-engine.ts'
export { openDamagedLevel, openReadOnly } from './engines/open-read-only.ts'
export { SqliteEngine, type SqliteEngineOptions } from './engines/sqlite-engine.ts'
export { applyOperation } from './files/apply.ts'
export { metaOf, taggedFiles, tagsOf, xattr, xattrsOf } from './files/attachments.ts'
export type { FileChange, NameChange } from './files/diff-files.ts'
export { Files, inlineText, type NamedEntry, statOf } from './files/files.ts'
export { namesOf, type Place } from './files/naming.ts'
export type {
  FileOperation,
  InodeOperation,
  JournalEntry,
  PathOperation,
  Provenance,
  StoredContent,
} from './files/operation.ts'
export { assertVaultName, StoreHome } from './home.ts'
export { firstApart } from './merge-base.ts'
export { type MergeRequest, mergeVaults } from './merge-vaults.ts'
export {
  type AttributeChanges,
  type Attributes,
  type Owner,
  PosixFiles,
  type PosixOptions,
  placeInJournal,
  planAttributes,
  planSize,
  planWrite,
  type RenameMode,
  type SpaceReport,
  type XattrMode,
} from './posix/index.ts'
export { chain, EngineReader, notLocal } from './reader.ts'
export { seal } from './sealed.ts'
export {
  indexKey,
  indexRoots,
  matchText,
  type Need,
  needOfPattern,
  needOfTextQuery,
  parseTextQuery,
  type SearchedTree,
  SearchIndex,
  type SearchLimits,
  type Snippet,
  scoresOf,
  searchedTree,
  searchIndexOf,
  snippetsOf,
  type TextMatch,
} from './search/index.ts'
export type { Hold } from './sessions/session.ts'
export { diffLines, type LineChange } from './text/index.ts'
export { diffTrees, type EntryChange } from './tree/diff-trees.ts'
export {
  countUnstored,
  type EncodedPage,
  foldNodes,
  NodeCache,
  type NodeCacheOptions,
  PageFault,
} from './tree/node-cache.ts'
export { PageCodec, type ValueCodec } from './tree/page.ts'
export {
  type BlobRef,
  CHUNK_BYTES,
  type ContentRef,
  type DirectoryEntry,
  type Inode,
  type Time,
  type TreeValue,
  treeValues,
} from './tree/records.ts'
export { type Entry, type NodeSource, Tree } from './tree/tree.ts'
export { Blobs } from './vault/blobs.ts'
export { type Checkpoint, decodeCheckpoint } from './vault/checkpoints.ts'
export { appendBytes, readContent, storeBytes, storeStream } from './vault/content.ts'
export type { Ancestor, Head } from './vault/head.ts'
export { Journal, type NumberedEntry } from './vault/journal.ts'
export { type MergeConflict, MergeError, type OnConflict } from './vault/merge.ts'
export { type OpenInode, OpenInodes } from './vault/open-inodes.ts'
export { patchBytes, patchSize } from './vault/patch.ts'
export type { Besides } from './vault/pending.ts'
export { type Quota, quotaKey } from './vault/quota.ts'
export { momentOf, type Plan } from './vault/replica.ts'
export { pieceCount, pieceOf } from './vault/stored-bytes.ts'
export { Upload } from './vault/upload.ts'
export { VaultLog } from './vault/vault-log.ts'
export { FileHistory, type FileVersion } from './vault/versions.ts'
