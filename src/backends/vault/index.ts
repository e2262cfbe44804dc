/**
 * A vault of the store as a file system, and the home that makes, opens and forks vaults. It translates between the
 * protocol and the store's log and files, and stores nothing itself.
 */

export type { Quota, VaultUsage } from '../../store/index.ts'
export type { FeedItem, FeedOptions, JournalFilter, JournalRecord } from './feed.ts'
export { type ForkOptions, Home, type MergeOptions, openHome, type VaultInfo } from './home.ts'
export type { Metadata, Tags } from './labels.ts'
export type { Limits } from './limits.ts'
export { type EngineName, engineNames, type HomeOptions } from './open-engine.ts'
export type { BlameLine, FileVersion } from './past.ts'
export { type Lane, Race } from './race.ts'
export type {
  ExportOptions,
  ExportReport,
  ImportOptions,
  ImportReport,
  ReceiveOptions,
  ReceiveReport,
  SendOptions,
  Skipped,
  TransferProgress,
} from './transfer/index.ts'
export { type CheckpointInfo, type DiffBase, Vault } from './vault.ts'
export { type FilesSource, VaultFs } from './vault-fs.ts'
export type { TextHit, TextSearchOptions } from './vault-search.ts'
