/**
 * Files of this machine, for the tools that take paths of it: which directories are allowed, what in them is
 * protected, and the owner's hooks. No backend: who composes the parts says how a directory is opened.
 * Invariant: a path is judged where it really leads, and content passes the hooks on every way, a search included.
 */

export type { HostHooks } from './hooked-fs.ts'
export { HostFiles, type HostFilesOptions, type HostTarget } from './host-files.ts'
