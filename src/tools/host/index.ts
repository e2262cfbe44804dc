/**
 * Host files for the tools that take host paths: the allowed directories, their protected
 * names, and the owner's hooks. No backend: the caller supplies the function that opens a directory.
 * Invariant: a path is checked by its real path, and every read of content runs the hooks, a search included.
 */

export type { HostHooks } from './hooked-fs.ts'
export { HostFiles, type HostFilesOptions, type HostTarget } from './host-files.ts'
