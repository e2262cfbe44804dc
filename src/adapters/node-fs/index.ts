/**
 * Any file system as an object with the calls of `node:fs`: promises, callbacks, streams, descriptors, and synchronous
 * calls if the file system has a synchronous interface. For packages that take an `fs`. Invariant: no path reaches a
 * file of the host.
 */
export type { NodeFileHandle } from './node-file-handle.ts'
export { type NodeFsOptions, nodeFs } from './node-fs.ts'
export type { NodeFs, NodeFsPromises } from './shape.ts'
