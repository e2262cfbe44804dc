import sortedBtree from 'sorted-btree'
import type { Recorder } from '../../harness/benchmark.ts'
import { type ForkableMap, measureMap } from './measure-map.ts'

// A CommonJS module with a default export: seen from here, its class is a property.
const BTree = sortedBtree.default

/** Comparing strings directly is faster than its default, which first finds out what it compares. */
function compare(a: string, b: string): number {
  if (a > b) return 1
  return a < b ? -1 : 0
}

/** The largest it allows: iterates twice as fast as its default of 32, and the rest stays the same. */
const NODE_SIZE = 256

type Tree = InstanceType<typeof BTree<string, number>>

class BTreeMap implements ForkableMap {
  readonly #tree: Tree

  constructor(tree: Tree = new BTree<string, number>(undefined, compare, NODE_SIZE)) {
    this.#tree = tree
  }

  get(key: string): number | undefined {
    return this.#tree.get(key)
  }

  set(key: string, value: number): void {
    this.#tree.set(key, value)
  }

  // Its clone shares all nodes and copies those that change.
  fork(): BTreeMap {
    return new BTreeMap(this.#tree.clone())
  }

  // Faster than its iterators.
  sum(): number {
    let sum = 0
    this.#tree.forEachPair((key, value) => {
      sum += key.length + value
    })
    return sum
  }
}

export function measure(recorder: Recorder): Promise<void> {
  return measureMap(recorder, () => new BTreeMap())
}
