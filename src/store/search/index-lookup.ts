import { BLOCK_DOCUMENTS } from './block-builder.ts'
import type { Coverage } from './coverage.ts'
import type { IndexRecordSnapshot, IndexState } from './index-record.ts'

/** Result of an index lookup for a tree: candidate files, and files it does not cover. */
export interface IndexLookup {
  readonly snapshot: IndexRecordSnapshot
  readonly state: IndexState | undefined
  /** Undefined without an index: nothing is covered. */
  readonly coverage: Coverage | undefined
  readonly candidates: ReadonlySet<number> | 'all'
}

export function isUncovered({ coverage }: IndexLookup, number: number): boolean {
  return coverage === undefined || coverage.uncovered.has(number)
}

/** Reports whether an index has so many outdated documents that a rebuild is better than another block. */
export function needsRebuild({ state, coverage }: IndexLookup): boolean {
  if (state === undefined || coverage === undefined) return false
  const documents = state.blocks.reduce((sum, block) => sum + block.documents, 0)
  return state.dead + coverage.outdated > Math.max(BLOCK_DOCUMENTS, documents / 2)
}
