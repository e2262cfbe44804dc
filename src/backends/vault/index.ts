/**
 * A vault of the store as a file system, and the home that makes, opens and forks vaults: `coppice/store`.
 * It translates between the protocol and the store's log and files, and stores nothing itself.
 * Whoever writes an engine finds its trait and its suite here, too.
 */

export {
  type Answer,
  assertVaultName,
  type Batch,
  type BlobRow,
  type Damage,
  type Durability,
  diffLines,
  type Engine,
  type EngineSubject,
  type EngineUsage,
  engineSuite,
  type FsckReport,
  type GcOptions,
  type GcReport,
  type HashRow,
  type HomeStats,
  type JournalRow,
  type LineChange,
  type LongWork,
  type MergeConflict,
  MergeError,
  type NameChange,
  type OnConflict,
  type PosixFiles,
  type PosixOptions,
  type Progress,
  type Quota,
  type RecordRow,
  type Sweep,
  type VaultUsage,
} from '../../store/index.ts'
export type { FeedItem, FeedOptions, JournalFilter, JournalRecord } from './feed.ts'
export type { FilesSource } from './files-source.ts'
export type { ForeignOptions, InodeNews } from './foreign-changes.ts'
export { type ForkOptions, Home, openHome, type VaultInfo } from './home.ts'
export { type HomePrivacy, mendPrivacy } from './home-directory.ts'
export { findEngine, type StoredEngineName, storePlace } from './home-engine.ts'
export type { Metadata, Tags } from './labels.ts'
export type { Limits } from './limits.ts'
export type { MergeOptions } from './merge-options.ts'
export { isMirrorName, isMirrorOf } from './mirror-name.ts'
export { type EngineName, engineNames, type HomeOptions, type HomePlace } from './open-engine.ts'
export type { BlameLine, FileVersion } from './past.ts'
export { type Lane, Race } from './race.ts'
export type {
  HistoryChange,
  HistoryOptions,
  HistoryStep,
  IncomingHistory,
  PastChange,
  PastStep,
} from './transfer/history/index.ts'
export type {
  ExportOptions,
  ExportReport,
  ImportOptions,
  ImportReport,
  ReceiveOptions,
  ReceiveReport,
  SalvageOptions,
  SalvageReport,
  SendOptions,
  Skipped,
  TransferProgress,
} from './transfer/index.ts'
export { type CheckpointInfo, type CheckpointNotes, type DiffBase, Vault } from './vault.ts'
export { VaultFs } from './vault-fs.ts'
export type { TextHit, TextSearchOptions } from './vault-search.ts'
