/**
 * Search in vaults: a trigram index in a copy-on-write tree of pages, which names candidate files, and the full-text
 * query language. An index covers one tree of a vault and serves all related trees: a search reads the files that
 * differ.
 * Invariant: a matching file is never left out; another one may be a candidate.
 */
export { indexKey, listIndexRoots } from './index-record.ts'
export { buildPatternQuery } from './pattern-query.ts'
export { type SearchedTree, SearchIndex, type SearchLimits, type SearchReadOptions } from './search-index.ts'
export { computeScores, extractSnippets, matchText, type Snippet, type TextMatch } from './text-match.ts'
export { buildTextQuery, parseTextQuery } from './text-query.ts'
export type { TrigramQuery } from './trigram-query.ts'
export { createSearchIndex, openSearchedTree } from './vault-search-index.ts'
