/**
 * Any file system as a kernel sees it: numbers for paths, open files, answers in any order.
 * It speaks the async protocol of `vfs` and knows no /dev/fuse; a vault has a faster way of its own.
 * Invariant: what was written through a mount is in the file system when `close`, `fsync` or `rename` returns.
 */
export { PathServer } from './path-server.ts'
