/** Permission to change nodes in place: a node made under the same token is reachable from one map only. */
export type EditToken = object

const MAX_ENTRIES = 256
const MAX_CHILDREN = 48
/** A node below this share of its maximum is joined with a neighbour if both together stay below three quarters. */
const MIN_FILL = 1 / 4
const MAX_MERGED_FILL = 3 / 4

/**
 * A map from names to values in the order of the names, as a B+tree that is copied on write.
 * A fork shares every node; after it each side copies the few nodes on the path to what it changes.
 * The token decides: nodes of the map's own token are changed in place, any other is copied first.
 *
 * A leaf is a hash map that is sorted only when somebody lists it: most directories fit in one leaf, so looking up
 * a name is one hash look-up, several times faster than comparing strings.
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

  /** A map with the same content that changes under another token. Constant time. */
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
      for (const [at, key] of keys.entries()) yield [key, getAt(values, at)]
    }
  }

  /** The entries in order, some hundred at a time: the fastest way over all of them. */
  *leaves(): Generator<SortedEntries<V>> {
    const stack: MapNode<V>[] = [this.#root]
    for (let node = stack.pop(); node; node = stack.pop()) {
      if (isBranch(node)) stack.push(...node.children.toReversed())
      else yield sortEntries(node)
    }
  }

  /**
   * The names whose values differ from an earlier state of this map or of a relative, in order.
   * Leaves both maps share are passed over without a look inside.
   */
  *differencesFrom(before: OrderedMap<V>): Generator<MapDifference<V>> {
    const [oldLeaves, newLeaves] = [before.#leafSet(), this.#leafSet()]
    const [old, now] = [
      collectEntries(oldLeaves.difference(newLeaves)),
      collectEntries(newLeaves.difference(oldLeaves)),
    ]
    for (const key of [...new Set([...old.keys(), ...now.keys()])].sort()) {
      const [from, to] = [old.get(key), now.get(key)]
      if (from !== to) yield { key, old: from, now: to }
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

  #own(node: MapNode<V>): MapNode<V> {
    if (node.edit === this.#edit) return node
    if (isBranch(node))
      return { edit: this.#edit, bounds: node.bounds.slice(), children: node.children.slice() }
    return { ...node, edit: this.#edit, entries: new Map(node.entries) }
  }

  #ownChild({ children }: Branch<V>, at: number): MapNode<V> {
    const child = this.#own(getAt(children, at))
    children[at] = child
    return child
  }

  /** Inserts below an owned node; returns what was split off to its right when it grew too large. */
  #insert(node: MapNode<V>, key: string, value: V): Split<V> | null {
    if (!isBranch(node)) return this.#insertInLeaf(node, key, value)
    const at = findChildIndex(node.bounds, key)
    const right = this.#insert(this.#ownChild(node, at), key, value)
    if (right === null) return null
    node.children.splice(at + 1, 0, right.node)
    node.bounds.splice(at + 1, 0, right.bound)
    return node.children.length > MAX_CHILDREN ? this.#splitBranch(node, at + 1) : null
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
    const middle = splitPoint(keys.length, keys.indexOf(inserted))
    const right = emptyLeaf<V>(this.#edit)
    for (let at = middle; at < keys.length; at++) {
      right.entries.set(getAt(keys, at), getAt(values, at))
      leaf.entries.delete(getAt(keys, at))
    }
    invalidateOrder(leaf)
    return { bound: getAt(keys, middle), node: right }
  }

  #splitBranch({ bounds, children }: Branch<V>, inserted: number): Split<V> {
    const middle = splitPoint(children.length, inserted)
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
    const at = findChildIndex(node.bounds, key)
    const child = this.#ownChild(node, at)
    const deleted = this.#remove(child, key)
    if (getFillCount(child) < MIN_FILL) this.#merge(node, at > 0 ? at - 1 : at)
    return deleted
  }

  /** Joins the child at `left` with its right neighbour when both fit well in one node. */
  #merge(parent: Branch<V>, left: number): void {
    const second = parent.children[left + 1]
    if (
      second === undefined ||
      getFillCount(getAt(parent.children, left)) + getFillCount(second) > MAX_MERGED_FILL
    )
      return
    const first = this.#ownChild(parent, left)
    if (isBranch(first) && isBranch(second)) {
      // The first bound of a branch is never compared; the true one is the parent's.
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

/** A name with its value in an earlier state and in the later one; undefined where it is missing. */
export interface MapDifference<V> {
  readonly key: string
  readonly old: V | undefined
  readonly now: V | undefined
}

interface Leaf<V> {
  readonly edit: EditToken
  readonly entries: Map<string, V>
  /** The keys in order, once asked for, until one comes or goes; the values likewise, until one changes. */
  keys: readonly string[] | null
  values: readonly V[] | null
}

/** Every name in `children[i]` is at least `bounds[i]`; the first child also takes whatever is smaller. */
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

function getFillCount<V>(node: MapNode<V>): number {
  return isBranch(node) ? node.children.length / MAX_CHILDREN : node.entries.size / MAX_ENTRIES
}

/** Names that arrive in order leave full nodes behind: a split caused at the very end takes only the newest along. */
function splitPoint(length: number, inserted: number): number {
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

/** The child whose range holds the key: the last one that does not start after it. */
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
