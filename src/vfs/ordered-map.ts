/** Permission to change nodes in place: a node created under a token is reachable from one map only. */
export type EditToken = object

/** Limit of the entries in a leaf. */
const MAX_ENTRIES = 256
/** Limit of the nodes below a branch. */
const MAX_CHILDREN = 48
/** A node below this fill is merged with a neighbour if both together stay below three quarters. */
const MIN_FILL = 1 / 4
const MAX_MERGED_FILL = 3 / 4

/**
 * A sorted map from text keys to values: a copy-on-write B+tree. A fork shares every node; afterwards each side copies the
 * few nodes on the path to a change. Nodes of the map's own token are changed in place, any other is copied first.
 *
 * A leaf is a hash map that is sorted only when it is listed. Most directories fit in one leaf, so a lookup is one hash
 * lookup, several times faster than comparing strings.
 */
export class OrderedMap<V> {
  #root: MapNode<V>
  #size: number
  readonly #edit: EditToken

  constructor(edit: EditToken, root: MapNode<V> = emptyLeaf(edit), size = 0) {
    this.#edit = edit
    this.#root = root
    this.#size = size
  }

  get size(): number {
    return this.#size
  }

  /** Returns a map with the same content that changes under another token. Constant time. */
  fork(edit: EditToken): OrderedMap<V> {
    return new OrderedMap(edit, this.#root, this.#size)
  }

  get(key: string): V | undefined {
    let node = this.#root
    while (isBranch(node)) node = getAt(node.children, findChildIndex(node.bounds, key))
    return node.entries.get(key)
  }

  set(key: string, value: V): void {
    this.#root = this.#own(this.#root)
    const right = this.#insert(this.#root, key, value)
    if (right === null) return
    this.#root = { edit: this.#edit, bounds: ['', right.bound], children: [this.#root, right.node] }
  }

  delete(key: string): boolean {
    this.#root = this.#own(this.#root)
    const deleted = this.#remove(this.#root, key)
    if (isBranch(this.#root) && this.#root.children.length === 1) this.#root = getAt(this.#root.children, 0)
    return deleted
  }

  *entries(): Generator<[string, V]> {
    for (const { keys, values } of this.leaves()) {
      for (const [index, key] of keys.entries()) yield [key, getAt(values, index)]
    }
  }

  /** Yields the entries in order, some hundreds at a time: the fastest iteration. */
  *leaves(): Generator<SortedEntries<V>> {
    const stack: MapNode<V>[] = [this.#root]
    for (let node = stack.pop(); node; node = stack.pop()) {
      if (isBranch(node)) stack.push(...node.children.toReversed())
      else yield sortEntries(node)
    }
  }

  /**
   * Yields the keys whose values differ from an earlier state of this map or of a fork, in order. Skips leaves that both
   * maps share.
   */
  *differencesFrom(before: OrderedMap<V>): Generator<MapDifference<V>> {
    const [oldLeaves, newLeaves] = [before.#leafSet(), this.#leafSet()]
    const [old, current] = [
      collectEntries(oldLeaves.difference(newLeaves)),
      collectEntries(newLeaves.difference(oldLeaves)),
    ]
    for (const key of [...new Set([...old.keys(), ...current.keys()])].sort()) {
      const [from, to] = [old.get(key), current.get(key)]
      if (from !== to) yield { key, old: from, current: to }
    }
  }

  #leafSet(): Set<Leaf<V>> {
    const leaves = new Set<Leaf<V>>()
    const pending = [this.#root]
    for (let node = pending.pop(); node; node = pending.pop()) {
      if (isBranch(node)) pending.push(...node.children)
      else leaves.add(node)
    }
    return leaves
  }

  /** Returns a node that this map may change in place: the given one, or a copy. */
  #own(node: MapNode<V>): MapNode<V> {
    if (node.edit === this.#edit) return node
    if (isBranch(node))
      return { edit: this.#edit, bounds: node.bounds.slice(), children: node.children.slice() }
    return { ...node, edit: this.#edit, entries: new Map(node.entries) }
  }

  #ownChild({ children }: Branch<V>, index: number): MapNode<V> {
    const child = this.#own(getAt(children, index))
    children[index] = child
    return child
  }

  /** Inserts below an owned node. Returns the split-off right part if the node grew too large. */
  #insert(node: MapNode<V>, key: string, value: V): Split<V> | null {
    if (!isBranch(node)) return this.#insertInLeaf(node, key, value)
    const index = findChildIndex(node.bounds, key)
    const right = this.#insert(this.#ownChild(node, index), key, value)
    if (right === null) return null
    node.children.splice(index + 1, 0, right.node)
    node.bounds.splice(index + 1, 0, right.bound)
    return node.children.length > MAX_CHILDREN ? this.#splitBranch(node, index + 1) : null
  }

  #insertInLeaf(leaf: Leaf<V>, key: string, value: V): Split<V> | null {
    const sizeBefore = leaf.entries.size
    leaf.entries.set(key, value)
    leaf.values = null
    if (leaf.entries.size === sizeBefore) return null
    leaf.keys = null
    this.#size++
    return leaf.entries.size > MAX_ENTRIES ? this.#splitLeaf(leaf, key) : null
  }

  #splitLeaf(leaf: Leaf<V>, inserted: string): Split<V> {
    const { keys, values } = sortEntries(leaf)
    const middle = findSplitIndex(keys.length, keys.indexOf(inserted))
    const right = emptyLeaf<V>(this.#edit)
    for (let index = middle; index < keys.length; index++) {
      right.entries.set(getAt(keys, index), getAt(values, index))
      leaf.entries.delete(getAt(keys, index))
    }
    invalidateOrder(leaf)
    return { bound: getAt(keys, middle), node: right }
  }

  #splitBranch({ bounds, children }: Branch<V>, inserted: number): Split<V> {
    const middle = findSplitIndex(children.length, inserted)
    const right = { edit: this.#edit, bounds: bounds.splice(middle), children: children.splice(middle) }
    return { bound: getAt(right.bounds, 0), node: right }
  }

  #remove(node: MapNode<V>, key: string): boolean {
    if (!isBranch(node)) {
      if (!node.entries.delete(key)) return false
      invalidateOrder(node)
      this.#size--
      return true
    }
    const index = findChildIndex(node.bounds, key)
    const child = this.#ownChild(node, index)
    const deleted = this.#remove(child, key)
    if (getFillRatio(child) < MIN_FILL) this.#merge(node, index > 0 ? index - 1 : index)
    return deleted
  }

  /** Merges the child at `left` with its right neighbour if both fit well in one node. */
  #merge(parent: Branch<V>, left: number): void {
    const second = parent.children[left + 1]
    if (
      second === undefined ||
      getFillRatio(getAt(parent.children, left)) + getFillRatio(second) > MAX_MERGED_FILL
    )
      return
    const first = this.#ownChild(parent, left)
    if (isBranch(first) && isBranch(second)) {
      // The first bound of a branch is never compared; the parent holds the real one.
      first.bounds.push(getAt(parent.bounds, left + 1), ...second.bounds.slice(1))
      first.children.push(...second.children)
    } else if (!isBranch(first) && !isBranch(second)) {
      for (const [key, value] of second.entries) first.entries.set(key, value)
      invalidateOrder(first)
    }
    parent.children.splice(left + 1, 1)
    parent.bounds.splice(left + 1, 1)
  }
}

/** A run of entries in order: `keys[i]` names `values[i]`. */
export interface SortedEntries<V> {
  readonly keys: readonly string[]
  readonly values: readonly V[]
}

/** A key with its earlier and later value; undefined if missing. */
export interface MapDifference<V> {
  readonly key: string
  readonly old: V | undefined
  readonly current: V | undefined
}

interface Leaf<V> {
  readonly edit: EditToken
  readonly entries: Map<string, V>
  /** The sorted keys, cached until a key is added or removed. */
  keys: readonly string[] | null
  /** The values in key order, cached until one changes. */
  values: readonly V[] | null
}

/** Every key in `children[i]` is at least `bounds[i]`; the first child also takes smaller keys. */
interface Branch<V> {
  readonly edit: EditToken
  readonly bounds: string[]
  readonly children: MapNode<V>[]
}

type MapNode<V> = Leaf<V> | Branch<V>

interface Split<V> {
  readonly bound: string
  readonly node: MapNode<V>
}

function isBranch<V>(node: MapNode<V>): node is Branch<V> {
  return 'children' in node
}

function getFillRatio<V>(node: MapNode<V>): number {
  return isBranch(node) ? node.children.length / MAX_CHILDREN : node.entries.size / MAX_ENTRIES
}

/**
 * Returns where to split a full node. An insertion at the very end moves only the newest item, so that sequential
 * inserts leave full nodes.
 */
function findSplitIndex(length: number, inserted: number): number {
  return inserted === length - 1 ? inserted : length >> 1
}

function emptyLeaf<V>(edit: EditToken): Leaf<V> {
  return { edit, entries: new Map(), keys: null, values: null }
}

function invalidateOrder<V>(leaf: Leaf<V>): void {
  leaf.keys = null
  leaf.values = null
}

function sortEntries<V>(leaf: Leaf<V>): SortedEntries<V> {
  if (leaf.keys !== null && leaf.values !== null) return { keys: leaf.keys, values: leaf.values }
  const sorted = [...leaf.entries].sort(([one], [other]) => (one < other ? -1 : 1))
  leaf.keys = sorted.map(([key]) => key)
  leaf.values = sorted.map(([, value]) => value)
  return { keys: leaf.keys, values: leaf.values }
}

function collectEntries<V>(leaves: Iterable<Leaf<V>>): Map<string, V> {
  const all = new Map<string, V>()
  for (const leaf of leaves) for (const [key, value] of leaf.entries) all.set(key, value)
  return all
}

function getAt<T>(items: readonly T[], index: number): T {
  const item = items[index]
  if (item === undefined) throw new RangeError(`no item ${index} of ${items.length}`)
  return item
}

/** Returns the index of the child whose range contains the key: the last one that does not start after it. */
function findChildIndex(bounds: readonly string[], key: string): number {
  let low = 1
  let high = bounds.length
  while (low < high) {
    const middle = (low + high) >> 1
    if (getAt(bounds, middle) <= key) low = middle + 1
    else high = middle
  }
  return low - 1
}
