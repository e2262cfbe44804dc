import { BLOCK_DOCUMENTS } from './block-builder.ts'
import type { Coverage } from './coverage.ts'
import type { IndexRecordSnapshot, IndexState } from './index-record.ts'

/** What the index tells of a tree: which files may meet a need, and which it knows nothing about. */
export interface IndexLookup {
  readonly read: IndexRecordSnapshot
  readonly state: IndexState | undefined
  /** Without an index, nothing is covered. */
  readonly coverage: Coverage | undefined
  readonly candidates: ReadonlySet<number> | 'all'
}

export function isUncovered({ coverage }: IndexLookup, number: number): boolean {
  return coverage === undefined || coverage.uncovered.has(number)
}

/** Whether so much of an index is dead that a new one is better than a further block. */
export function needsRebuild({ state, coverage }: IndexLookup): boolean {
  if (state === undefined || coverage === undefined) return false
  const documents = state.blocks.reduce((sum, block) => sum + block.documents, 0)
  return state.dead + coverage.gone > Math.max(BLOCK_DOCUMENTS, documents / 2)
}
