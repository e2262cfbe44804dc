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
} from '../../vfs/index.ts'

const DEFAULT_LIMIT = 20

/** A file found by full text, with lines that show why. */
export interface TextHit {
  readonly path: string
  /** The higher the better; only comparable within one answer. */
  readonly score: number
  readonly snippets: readonly Snippet[]
}

export interface TextSearchOptions {
  /** Only what is at this path or below it. */
  readonly root?: string
  /** How many hits at most; 20 when absent. */
  readonly limit?: number
}

/** Searches a vault: the index names the files worth reading, and reading them decides. */
export class VaultSearch {
  readonly #index: SearchIndex
  readonly #getTree: () => MaybePromise<SearchedTree>

  /** @param current the tree to search at this moment */
  constructor(index: SearchIndex, current: () => MaybePromise<SearchedTree>) {
    this.#index = index
    this.#getTree = current
  }

  /** The matching lines at or below a path: exactly what reading every file gives, in the order of a walk. ENOENT. */
  search(root: string, query: SearchQuery, ctx?: CallContext): AsyncIterable<Match> {
    const compiled = compileQuery(query)
    const need = buildPatternQuery(query.pattern)
    // Asked now, so that what is found is of this moment, whenever the loop begins.
    const tree = this.#getTree()
    return this.#findMatching(tree, root, compiled, need, ctx?.signal)
  }

  /**
   * The files whose text has every word of a query, the best first, then by path. `word`, `pre*`, `"a phrase"`,
   * `-without`; case does not matter. EINVAL if the query has no word, ENOENT.
   */
  async searchText(
    query: string,
    { root = '/', limit = DEFAULT_LIMIT }: TextSearchOptions = {},
    ctx?: CallContext,
  ): Promise<TextHit[]> {
    const asked = parseTextQuery(query)
    const tree = await this.#getTree()
    try {
      return await this.#findBest(tree, { asked, root, limit }, ctx?.signal)
    } finally {
      tree.hold?.release()
    }
  }

  async #findBest(
    tree: SearchedTree,
    { asked, root, limit }: { asked: ReturnType<typeof parseTextQuery>; root: string; limit: number },
    signal: AbortSignal | undefined,
  ): Promise<TextHit[]> {
    const need = buildTextQuery(asked)
    const found: { path: string; number: number; match: TextMatch }[] = []
    for await (const { path, number, bytes } of this.#index.findFiles(tree, root, need, signal)) {
      const match = isBinary(bytes) ? null : matchText(decodeText(bytes), asked)
      if (match !== null) found.push({ path, number, match })
    }
    const scores = computeScores(found.map(({ match }) => match))
    const best = found
      .map(({ path, number }, index) => ({ path, number, score: scores[index] ?? 0 }))
      .sort((one, other) => other.score - one.score || (one.path < other.path ? -1 : 1))
      .slice(0, limit)
    return Promise.all(
      best.map(async ({ path, number, score }) => {
        const snippets = extractSnippets(await this.#index.readFile(tree, number), asked)
        return { path, score, snippets }
      }),
    )
  }

  async *#findMatching(
    current: MaybePromise<SearchedTree>,
    root: string,
    query: CompiledQuery,
    need: TrigramQuery,
    signal: AbortSignal | undefined,
  ): AsyncGenerator<Match> {
    const tree = await current
    try {
      for await (const { path, bytes } of this.#index.findFiles(tree, root, need, signal)) {
        // Asked first: most files that have to be read have no match, and this is quick to say so.
        if (!mayMatch(bytes, query)) continue
        for (const step of searchSteps(path, bytes, query)) {
          if (step === null) await query.yielder.yield(signal)
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
