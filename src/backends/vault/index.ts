/**
 * A vault of the store as a file system, and the home that creates, opens and forks vaults: `coppice/store`. It
 * translates between the protocol and the store's log and files, and stores nothing itself. It also exports the
 * interface and the test suite for authors of an engine.
 */

export {
  assertVaultName,
  type Batch,
  type BlobRow,
  type Damage,
  type Durability,
  diffLines,
  digestSides,
  type Engine,
  type EngineSubject,
  type EngineUsage,
  engineSuite,
  type Freshness,
  type FsckReport,
  type GcOptions,
  type GcReport,
  type HashRow,
  type HomeStats,
  hasUrlPassword,
  hideUrlPassword,
  isText,
  type JournalRange,
  type JournalRow,
  type LineChange,
  type MaintenanceOptions,
  type MaintenanceProgress,
  type MaybePromise,
  type MergeConflict,
  MergeError,
  mergeText,
  type NameChange,
  type OnConflict,
  type PosixFiles,
  type PosixOptions,
  type PosixReads,
  type ReadBatch,
  type ReadBatchResult,
  type RecordRow,
  type Resolution,
  type ResolvedText,
  rememberUrlPassword,
  type SideNames,
  type Sweep,
  type TextSides,
  type VaultQuota,
  type VaultUsage,
} from '../../store/index.ts'
export type { CheckpointInfo, CheckpointNotes } from './checkpoint-info.ts'
export {
  type Exchanged,
  type ExchangeOptions,
  type FetchReport,
  fetchVault,
  type PushReport,
  pushVault,
} from './exchange/index.ts'
export type { FeedItem, FeedOptions, JournalFilter, JournalRecord } from './feed.ts'
export type { ChangedInodes, ForeignChangeOptions } from './foreign-changes.ts'
export { Home } from './home.ts'
export { restrictHomeAccess } from './home-directory.ts'
export {
  findEngine,
  getStorePath,
  recordDatabase,
  type StoredEngineName,
} from './home-engine.ts'
export { type HomeObjects, parseObjectsUrl } from './home-objects.ts'
export type { ForkOptions, VaultInfo } from './home-options.ts'
export type { Metadata, Tags } from './labels.ts'
export type { Lease, LeaseOptions } from './lease.ts'
export type { MachineCopy } from './machine-copy.ts'
export type { MergeOptions } from './merge-options.ts'
export { isMirrorFor, isMirrorName } from './mirror-name.ts'
export type { VaultMoment } from './moment-fs.ts'
export { type EngineName, engineNames, type HomeLocation, type HomeOptions } from './open-engine.ts'
export { openHome } from './open-home.ts'
export { Race, type RaceLane } from './race.ts'
export type {
  ExportedChange,
  ExportedStep,
  HistoryChange,
  HistoryOptions,
  HistoryStep,
  IncomingHistory,
} from './transfer/history/index.ts'
export { IgnoreRules } from './transfer/ignore-rules.ts'
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
export { isMergeStateName } from './undoable-merge.ts'
export { type DiffBase, Vault } from './vault.ts'
export { VaultFs } from './vault-fs.ts'
export type { VaultLimits } from './vault-limits.ts'
export type { TextHit, TextSearchOptions } from './vault-search.ts'
export type { BlameLine, FileVersion } from './versions.ts'
