/**
 * The protocol that every file system of Coppice implements, the in-memory file systems (memory, mount table, overlay,
 * read-only), and the helpers that work on any of them. No backend that touches the machine, and no policy. Invariant:
 * nothing here imports another folder, a package or a module of Node, so that it runs in browsers; `runtime.ts` looks up
 * what the runtime has.
 */
export { assertFileSystem } from './assert-file-system.ts'
export { assertCount, assertHandleWrite } from './assert-handle-call.ts'
export { assertOptions } from './assert-options.ts'
export { assertSameVersion, Backend } from './backend.ts'
export { CheckedFileSystem, type CheckedMutation, type Mutation } from './checked-file-system.ts'
export { CheckedSyncFileSystem } from './checked-sync-file-system.ts'
export { DeferredStream, startStream } from './deferred-stream.ts'
export {
  type ErrorCode,
  errorCodes,
  isVfsError,
  VfsError,
  type VfsErrorDetails,
  type VfsErrorJson,
} from './error.ts'
export { type CacheEvent, refuseLinks, type VfsEvent, type VfsOperation, vfsOperations } from './events.ts'
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
export {
  type CollapsedDirectory,
  collapseChanges,
} from './helpers/collapse-changes.ts'
export { type CopyOptions, copy, type MoveOptions, move } from './helpers/copy-move.ts'
export { diff, diffCandidates } from './helpers/diff.ts'
export { append, readFile, readText, tail, writeFile } from './helpers/file-content.ts'
export { glob, matchesGlob } from './helpers/glob.ts'
export { grep } from './helpers/grep.ts'
export { hash } from './helpers/hash.ts'
export { type DiskUsage, du, list, type TreeOptions, tree } from './helpers/listing.ts'
export { type MapReduceOptions, mapReduce } from './helpers/map-reduce.ts'
export { openFile } from './helpers/open-file.ts'
export { updateText } from './helpers/update-text.ts'
export { detectImageType, IMAGE_PROBE_BYTES } from './image-type.ts'
export { createLazyStream, pullFrom } from './lazy-stream.ts'
export { MemoryFs, type MemoryFsOptions } from './memory/memory-fs.ts'
export { type MountOptions, MountTable } from './mount/mount-table.ts'
export { type OverlayDiff, OverlayFs } from './overlay/overlay-fs.ts'
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
export { getPermissions } from './permissions.ts'
export {
  type Appendable,
  type Attributed,
  type ContentAddressed,
  type Diffable,
  type FileHandle,
  type Forkable,
  type HardLinkable,
  type InodeIdentity,
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
  type PathChange,
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
export { ReadyStream } from './ready-stream.ts'
export { createUnsupportedError, requireProtocol } from './require-protocol.ts'
export { assertLinkFree, assertLinkTarget, resolveLinks, resolveLinksSync } from './resolve-links.ts'
export {
  type CompiledQuery,
  compileQuery,
  findMatches,
  isBinary,
  mayMatch,
  searchSteps,
  splitLines,
} from './search.ts'
export { Slab } from './slab.ts'
export { listGainedBits, listSpecialBits, SPECIAL_BITS, type SpecialBit } from './special-bits.ts'
export { assertStatChanges } from './stat-changes.ts'
export {
  byteStream,
  collect,
  contentChunks,
  copyBytes,
  copyContent,
  type RangeReader,
} from './streams.ts'
export {
  isSynchronous,
  type SyncFileHandle,
  type SyncFileSystem,
  type Synchronous,
  type SyncStat,
  trySync,
} from './sync-file-system.ts'
export { assertWritable } from './write-buffer/assert-writable.ts'
export { PartReader } from './write-buffer/part-reader.ts'
export { WriteBuffer, type WriteBufferStore } from './write-buffer/write-buffer.ts'
export { Yielder } from './yielder.ts'
