/**
 * A directory of this machine as a file system with atomic writes. Not a sandbox for processes, and no watcher.
 * Invariant: a path becomes a system call only through a directory handle that `path-resolution.ts` found inside the root.
 * So no link, even one swapped in meanwhile, leads a read or a change out of it.
 */
export { HostFs, type HostFsOptions } from './host-fs.ts'
