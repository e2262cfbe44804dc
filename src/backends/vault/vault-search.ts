import {
  buildPatternQuery,
  buildTextQuery,
  computeScores,
  extractSnippets,
  type MaybePromise,
  matchText,
  parseTextQuery,
  type SearchedTree,
  type SearchIndex,
  type SearchReadOptions,
  type Snippet,
  type TextMatch,
  type TrigramQuery,
} from '../../store/index.ts'
import {
  type CallContext,
  type CompiledQuery,
  compileQuery,
  isBinary,
  type Match,
  mayMatch,
  type SearchQuery,
  searchSteps,
  type VfsError,
} from '../../vfs/index.ts'

const DEFAULT_LIMIT = 20

/** A file that matches a full-text query, with excerpts. */
export interface TextHit {
  readonly path: string
  /** Higher is better; comparable only within one result. */
  readonly score: number
  readonly snippets: readonly Snippet[]
}

/** Options of a full-text search. */
export interface TextSearchOptions {
  /** Search only at or below this path. */
  readonly root?: string
  /** Maximum number of hits. 20 when absent. */
  readonly limit?: number
  /** Called for each damaged file, which the search skips. */
  readonly onUnreadable?: (path: string, error: VfsError) => void
}

/** Searches a vault. The index selects candidate files, and their content decides. */
export class VaultSearch {
  readonly #index: SearchIndex
  readonly #getTree: () => MaybePromise<SearchedTree>

  /** @param getTree returns the tree to search. */
  constructor(index: SearchIndex, getTree: () => MaybePromise<SearchedTree>) {
    this.#index = index
    this.#getTree = getTree
  }

  /** Yields the matching lines at or below a path in the order of a walk, the same as reading every file. ENOENT. */
  search(root: string, query: SearchQuery, ctx?: CallContext): AsyncIterable<Match> {
    const compiled = compileQuery(query)
    const need = buildPatternQuery(query.pattern)
    // Called now, so that the result shows this moment, whenever the loop starts.
    const tree = this.#getTree()
    return this.#findMatching(tree, root, compiled, need, {
      signal: ctx?.signal,
      onUnreadable: query.onUnreadable,
    })
  }

  /**
   * Returns the files with every word of a query, best first, then by path. Syntax: `word`, `pre*`, `"a phrase"`,
   * `-without`; case-insensitive. Throws EINVAL if the query has no word, ENOENT.
   */
  async searchText(
    query: string,
    { root = '/', limit = DEFAULT_LIMIT, onUnreadable }: TextSearchOptions = {},
    ctx?: CallContext,
  ): Promise<TextHit[]> {
    const parsed = parseTextQuery(query)
    const tree = await this.#getTree()
    try {
      return await this.#findBest(tree, { parsed, root, limit }, { signal: ctx?.signal, onUnreadable })
    } finally {
      tree.hold?.release()
    }
  }

  async #findBest(
    tree: SearchedTree,
    { parsed, root, limit }: { parsed: ReturnType<typeof parseTextQuery>; root: string; limit: number },
    options: SearchReadOptions,
  ): Promise<TextHit[]> {
    const need = buildTextQuery(parsed)
    const found: { path: string; number: number; match: TextMatch }[] = []
    for await (const { path, number, bytes } of this.#index.findFiles(tree, root, need, options)) {
      const match = isBinary(bytes) ? null : matchText(decodeText(bytes), parsed)
      if (match !== null) found.push({ path, number, match })
    }
    const scores = computeScores(found.map(({ match }) => match))
    const best = found
      .map(({ path, number }, index) => ({ path, number, score: scores[index] ?? 0 }))
      .sort((one, other) => other.score - one.score || (one.path < other.path ? -1 : 1))
      .slice(0, limit)
    return Promise.all(
      best.map(async ({ path, number, score }) => {
        const snippets = extractSnippets(await this.#index.readFile(tree, number), parsed)
        return { path, score, snippets }
      }),
    )
  }

  async *#findMatching(
    opened: MaybePromise<SearchedTree>,
    root: string,
    query: CompiledQuery,
    need: TrigramQuery,
    options: SearchReadOptions,
  ): AsyncGenerator<Match> {
    const tree = await opened
    try {
      for await (const { path, bytes } of this.#index.findFiles(tree, root, need, options)) {
        // A quick check first: most candidate files have no match.
        if (!mayMatch(bytes, query)) continue
        for (const step of searchSteps(path, bytes, query)) {
          if (step === null) await query.yielder.yield(options.signal)
          else yield step
        }
      }
    } finally {
      tree.hold?.release()
    }
  }
}

function decodeText(bytes: Uint8Array): string {
  return Buffer.from(bytes.buffer, bytes.byteOffset, bytes.length).toString('utf8')
}
