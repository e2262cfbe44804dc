/**
 * Any file system as an object with the calls of `node:fs`: promises, callbacks, streams, descriptors, and
 * synchronous calls where the file system can answer at once. For packages that take an `fs`.
 * Invariant: nothing here touches a file of this machine, whatever path it is given.
 */
export { NodeFileHandle } from './node-file-handle.ts'
export { type NodeFsOptions, nodeFs } from './node-fs.ts'
export type { NodeFs, NodeFsPromises } from './shape.ts'
