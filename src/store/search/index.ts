/**
 * Search in vaults: a trigram index kept as a copy-on-write tree of pages, which names the files worth reading, and
 * what a full-text query means. It covers one tree of a vault and serves all trees related to it: what differs is read.
 * Invariant: a file that meets a need is never left out; one that does not may be named.
 */
export { indexKey, listIndexRoots } from './index-record.ts'
export { buildPatternQuery } from './pattern-query.ts'
export { type SearchedTree, SearchIndex, type SearchLimits } from './search-index.ts'
export { computeScores, extractSnippets, matchText, type Snippet, type TextMatch } from './text-match.ts'
export { buildTextQuery, parseTextQuery } from './text-query.ts'
export type { TrigramQuery } from './trigram-query.ts'
export { createSearchIndex, openSearchedTree } from './vault-search-index.ts'
