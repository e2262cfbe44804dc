/**
 * A file system that has to be waited for, used in another thread by callers that cannot wait: an interpreter's system
 * calls. One thread shares, the other connects and blocks for each answer. Not for other processes.
 * Invariant: a blocked caller is always released: by the answer, by a cancel, or with EIO when the other side is gone.
 */
export { type ConnectedFileSystem, type ConnectOptions, connectFileSystem } from './connect-file-system.ts'
export { type SharedFileSystem, type ShareOptions, shareFileSystem } from './share-file-system.ts'
export { createSharedCells, type SharedCells, type ThreadChannel } from './thread-channel.ts'
