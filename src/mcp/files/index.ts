/**
 * Files of a namespace as resources: which are listed, what is read from them, how their paths are completed.
 * It changes nothing, and keeps nothing: each answer shows the files as they are.
 * Invariant: a path comes from a `vfs:///` URI by the tools' own rules, and failures are the protocol's.
 */
export { FileResources } from './file-resources.ts'
export { createPathCompleter } from './path-completion.ts'
