/**
 * Search in vaults: a trigram index kept as a copy-on-write tree of pages, which names the files worth reading, and
 * what a full-text query means. It covers one tree of a vault and serves all trees related to it: what differs is read.
 * Invariant: a file that meets a need is never left out; one that does not may be named.
 */
export { indexKey, indexRoots } from './index-record.ts'
export type { Need } from './need.ts'
export { needOfPattern } from './pattern-need.ts'
export { type SearchedTree, SearchIndex, type SearchLimits } from './search-index.ts'
export { matchText, type Snippet, scoresOf, snippetsOf, type TextMatch } from './text-match.ts'
export { needOfTextQuery, parseTextQuery } from './text-query.ts'
export { searchedTree, searchIndexOf } from './vault-index.ts'
