import { type Batch, DelayedEngine, type Engine, type MemoryEngine } from '../../src/store/index.ts'
import { tapEngine } from './tap-engine.ts'

/**
 * When the connection breaks: before the engine gets a batch; while it commits, so that it is done only when the next
 * call comes; after it has committed. Or the batch is sent twice, and the answer is that to the second.
 */
export type Loss = 'before' | 'during' | 'after' | 'twice'

export const losses: readonly Loss[] = ['before', 'during', 'after', 'twice']

/** What becomes of one commit, and how many calls after it fail. */
export interface Break {
  readonly loss: Loss
  readonly cuts: number
}

/** An engine a network away, on a connection that loses answers. Others may use the same store on better ones. */
export class LossyEngine {
  readonly engine: Engine
  readonly #store: MemoryEngine
  readonly #next: (batch: Batch) => Break | undefined
  readonly #late: Batch[] = []
  #isLost = false
  #cuts = 0

  constructor(store: MemoryEngine, next: (batch: Batch) => Break | undefined) {
    this.#store = store
    this.#next = next
    const before = (call: string, [batch]: readonly unknown[]) => {
      for (const late of this.#late.splice(0)) store.commit(late)
      if (call === 'commit' && isBatch(batch)) this.#send(batch)
      else if (this.#cuts-- > 0) throw new Error(`connection refused (${call})`)
    }
    const after = (call: string, _args: readonly unknown[], answer: unknown) => {
      if (call !== 'commit' || !this.#isLost) return answer
      this.#isLost = false
      throw new Error('connection reset')
    }
    this.engine = new DelayedEngine(tapEngine(store, { before, after }))
  }

  #send(batch: Batch): void {
    const broken = this.#next(batch)
    if (broken === undefined) return
    this.#cuts = broken.cuts
    if (broken.loss === 'during') this.#late.push(batch)
    if (broken.loss === 'twice') this.#store.commit(batch)
    this.#isLost = broken.loss === 'after'
    if (broken.loss === 'before' || broken.loss === 'during') throw new Error('connection reset')
  }
}

function isBatch(value: unknown): value is Batch {
  return typeof value === 'object' && value !== null
}
