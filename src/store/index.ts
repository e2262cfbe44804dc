/**
 * The copy-on-write store: an ordered tree per vault on any engine that keeps pages, blobs, records and a journal.
 * It knows inodes and bytes, not the protocol of `vfs`; the vault backend makes a file system of it.
 * Invariant: a node or blob that is stored never changes; everything else is a reference to one.
 */
export type { Answer, Batch, BlobRow, Durability, Engine, JournalRow, RecordRow } from './engine.ts'
export { type EngineSubject, engineSuite } from './engine-suite.ts'
export { LmdbEngine, type LmdbEngineOptions } from './engines/lmdb-engine.ts'
export { MemoryEngine } from './engines/memory-engine.ts'
export { SqliteEngine, type SqliteEngineOptions } from './engines/sqlite-engine.ts'
export type { FileChange } from './files/diff-files.ts'
export { Files, inlineText, statOf } from './files/files.ts'
export type { FileOperation, JournalEntry, StoredContent } from './files/operation.ts'
export type { Damage, FsckReport } from './fsck.ts'
export { StoreHome } from './home.ts'
export {
  type EncodedPage,
  foldNodes,
  NodeCache,
  type NodeCacheOptions,
  PageFault,
} from './tree/node-cache.ts'
export { PageCodec, type ValueCodec } from './tree/page.ts'
export {
  type BlobRef,
  type ContentRef,
  type DirectoryEntry,
  type Inode,
  type Time,
  type TreeValue,
  treeValues,
} from './tree/records.ts'
export { diffTrees, type Entry, type EntryChange, type NodeSource, Tree } from './tree/tree.ts'
export { Blobs } from './vault/blobs.ts'
export type { Checkpoint } from './vault/checkpoints.ts'
export { appendBytes, readContent, storeContent } from './vault/content.ts'
export { type MergeConflict, MergeError, type OnConflict } from './vault/merge.ts'
export { type Head, type Plan, VaultLog } from './vault/vault-log.ts'
