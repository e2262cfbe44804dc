import type { Tree } from '../tree/tree.ts'
import type { TreeValue } from '../tree/tree-values.ts'
import type { BlockInfo } from './index-record.ts'
import type { Documents } from './posting-list.ts'
import { StoredBlock } from './stored-block.ts'
import type { TrigramQuery } from './trigram-query.ts'

/** Number of documents below which reading them is as cheap as another list. */
const FEW_DOCUMENTS = 2
/** Limit of posting lists that are read for one text in a block. */
const MAX_LISTS = 12

/** Finds the indexed inodes whose content may match a query. Some of them may be stale. */
export function findCandidates(
  tree: Tree<TreeValue>,
  blocks: readonly BlockInfo[],
  query: Exclude<TrigramQuery, 'anything'>,
): Set<number> {
  const evaluator = new TrigramQueryEvaluator()
  const candidates = new Set<number>()
  for (const { id } of blocks) {
    const block = new StoredBlock(tree, id)
    const documents = evaluator.findDocuments(block, query)
    if (documents.length === 0 && block.unindexed.length === 0) continue
    const { inodes } = block
    for (const document of [...documents, ...block.unindexed]) {
      const inode = inodes[document]
      if (inode !== undefined) candidates.add(inode)
    }
  }
  return candidates
}

/** Evaluates a query block by block; the lengths of lists in earlier blocks make later ones faster. */
class TrigramQueryEvaluator {
  readonly #lengths = new Map<number, number>()

  findDocuments(block: StoredBlock, query: Exclude<TrigramQuery, 'anything'>): Documents {
    if ('trigrams' in query) return this.#findWithAll(block, query.trigrams)
    const queries = ('all' in query ? query.all : query.any).filter((part) => part !== 'anything')
    if ('any' in query) return unite(queries.map((part) => this.findDocuments(block, part)))
    let result: Documents | undefined
    for (const part of queries) {
      if (result !== undefined && result.length <= FEW_DOCUMENTS) break
      const documents = this.findDocuments(block, part)
      result = result === undefined ? documents : intersect(result, documents)
    }
    return result ?? new Uint16Array(0)
  }

  /** Returns the documents that may contain all trigrams: those with the rarest of them. */
  #findWithAll(block: StoredBlock, trigrams: readonly number[]): Documents {
    const length = (trigram: number) => this.#lengths.get(trigram) ?? 0
    const rarestFirst = trigrams.toSorted((one, other) => length(one) - length(other))
    let result: Documents | undefined
    for (const trigram of rarestFirst.slice(0, MAX_LISTS)) {
      const documents = block.findDocuments(trigram)
      this.#lengths.set(trigram, documents.length)
      result = result === undefined ? documents : intersect(result, documents)
      if (result.length <= FEW_DOCUMENTS) break
    }
    return result ?? new Uint16Array(0)
  }
}

function intersect(one: Documents, other: Documents): Documents {
  const both = new Uint16Array(Math.min(one.length, other.length))
  let count = 0
  for (let i = 0, j = 0; i < one.length && j < other.length; ) {
    const [a, b] = [one[i] ?? 0, other[j] ?? 0]
    if (a === b) both[count++] = a
    if (a <= b) i++
    if (b <= a) j++
  }
  return both.subarray(0, count)
}

function unite(lists: readonly Documents[]): Documents {
  return Uint16Array.from(new Set(lists.flatMap((list) => [...list]))).sort()
}
