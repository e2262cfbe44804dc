/**
 * An asynchronous file system, used in another thread by callers that must block, such as an interpreter's system
 * calls. One thread shares, the other connects and blocks for each response. Not for other processes.
 * Invariant: a blocked caller is always released: by the response, by a cancel, or with EIO when the other side ends.
 */
export { type ConnectedFileSystem, type ConnectOptions, connectFileSystem } from './connect-file-system.ts'
export { type SharedFileSystem, type ShareOptions, shareFileSystem } from './share-file-system.ts'
export { createSharedCells, type SharedCells, type ThreadChannel } from './thread-channel.ts'
