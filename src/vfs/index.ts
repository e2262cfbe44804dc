/**
 * The protocol every file system of Coppice speaks, the stock file systems in memory (memory, mount table, overlay,
 * read-only), and the helpers that work on any of them. No backend that touches the machine, and no policy.
 * Invariant: nothing here imports anything but Node.
 */
export { assertFileSystem } from './assert-file-system.ts'
export { assertSameVersion, Backend } from './backend.ts'
export { CheckedFileSystem, type CheckedMutation, type Mutation } from './checked-file-system.ts'
export { CheckedSyncFileSystem } from './checked-sync-file-system.ts'
export { Draft, type DraftStore } from './drafts/draft.ts'
export { mayWrite } from './drafts/may-write.ts'
export { PartReader } from './drafts/part-reader.ts'
export {
  type ErrorCode,
  errorCodes,
  isVfsError,
  VfsError,
  type VfsErrorDetails,
  type VfsErrorJson,
} from './error.ts'
export { type CacheEvent, type Operation, operations, refusingLinks, type VfsEvent } from './events.ts'
export type {
  CallContext,
  Caller,
  Capability,
  Content,
  DirEntry,
  FileSystem,
  FileType,
  MaterializeOptions,
  MkdirOptions,
  ReadOptions,
  RemoveOptions,
  Stat,
  WalkEntry,
  WalkOptions,
  WriteOptions,
} from './file-system.ts'
export { append, readFile, readText, tail, writeFile } from './helpers/content.ts'
export { diff } from './helpers/diff.ts'
export { glob, matchesGlob } from './helpers/glob.ts'
export { grep } from './helpers/grep.ts'
export { hash } from './helpers/hash.ts'
export { type DiskUsage, du, list, tree } from './helpers/listing.ts'
export { type MapReduceOptions, mapReduce } from './helpers/map-reduce.ts'
export { openFile } from './helpers/open-file.ts'
export { type CopyOptions, copy, type MoveOptions, move } from './helpers/transfer.ts'
export { updateText } from './helpers/update-text.ts'
export { assertLinkFree, assertLinkTarget, resolveLinks, resolveLinksSync } from './links.ts'
export { MemoryFs, type MemoryFsOptions } from './memory/memory-fs.ts'
export { type MountOptions, MountTable } from './mount/mount-table.ts'
export { type OverlayDiff, OverlayFs } from './overlay/overlay-fs.ts'
export { Pace } from './pace.ts'
export {
  ancestors,
  basename,
  checkPath,
  child,
  dirname,
  isWithin,
  join,
  normalize,
  relativeTo,
  resolve,
  split,
  strict,
} from './path.ts'
export { permissionsOf } from './permissions.ts'
export {
  type Appendable,
  type Attributed,
  type Change,
  type ContentAddressed,
  type Diffable,
  type FileHandle,
  type Forkable,
  type HardLinkable,
  type Identity,
  isAppendable,
  isAttributed,
  isContentAddressed,
  isDiffable,
  isForkable,
  isHardLinkable,
  isLinkable,
  isOpenable,
  isRenamable,
  isSearchable,
  isVersioned,
  isWatchable,
  type LinePattern,
  type Linkable,
  type Match,
  type Openable,
  type OpenOptions,
  type RealpathOptions,
  type Renamable,
  type RenameOptions,
  type Searchable,
  type SearchQuery,
  type StatChanges,
  type Version,
  type Versioned,
  type Watchable,
} from './protocols.ts'
export { ReadOnlyFs } from './read-only-fs.ts'
export {
  type CompiledQuery,
  compileQuery,
  isBinary,
  linesOf,
  matchesIn,
  mayMatch,
  searchSteps,
} from './search.ts'
export { gainedBits, SPECIAL_BITS, type SpecialBit, specialBits } from './special-bits.ts'
export { assertStatChanges } from './stat-changes.ts'
export {
  byteStream,
  collect,
  contentChunks,
  ownBytes,
  ownContent,
  type RangeReader,
  ReadyStream,
} from './streams.ts'
export {
  answeredNow,
  isSynchronous,
  type SyncFileHandle,
  type SyncFileSystem,
  type Synchronous,
  type SyncStat,
} from './sync-file-system.ts'
