/**
 * Serves any file system to a kernel: inode numbers for paths, open files, replies in any order. It uses the async
 * protocol of `vfs` and does not know /dev/fuse; vaults have a faster server. Invariant: data written through a mount
 * is in the file system when `close`, `fsync` or `rename` returns.
 */
export { PathServer } from './path-server.ts'
