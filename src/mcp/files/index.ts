/**
 * Files of a namespace as resources: listing, content and path completion.
 * It changes nothing and caches nothing: each response shows the current files.
 * Invariant: a path comes from a `vfs:///` URI by the tools' own rules, and failures are the protocol's.
 */
export { FileResources } from './file-resources.ts'
export { createPathCompleter } from './path-completion.ts'
