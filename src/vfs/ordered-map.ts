/** Permission to change nodes in place: a node made under the same token is reachable from one map only. */
export type EditToken = object

const MAX_SIZE = 48
const MIN_SIZE = MAX_SIZE / 4

/**
 * A map from names to values in the order of the names, as a B+tree that is copied on write.
 * A fork shares every node; after it each side copies the few nodes on the path to what it changes.
 * The token decides: nodes of the map's own token are changed in place, any other is copied first.
 */
export class OrderedMap<V> {
  #root: Node<V>
  #size: number
  readonly #edit: EditToken

  constructor(edit: EditToken, root: Node<V> = { edit, keys: [], values: [], children: null }, size = 0) {
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
    while (node.children !== null) node = nth(node.children, childIndex(node.keys, key))
    const at = lowerBound(node.keys, key)
    return node.keys[at] === key ? node.values[at] : undefined
  }

  set(key: string, value: V): void {
    this.#root = this.#own(this.#root)
    const right = this.#insert(this.#root, key, value)
    if (right === null) return
    const children = [this.#root, right]
    this.#root = { edit: this.#edit, keys: children.map((node) => nth(node.keys, 0)), values: [], children }
  }

  delete(key: string): boolean {
    this.#root = this.#own(this.#root)
    const deleted = this.#remove(this.#root, key)
    if (this.#root.children?.length === 1) this.#root = nth(this.#root.children, 0)
    return deleted
  }

  /** The leaves in order: names and values side by side. The fastest way over all entries. */
  *leaves(): Generator<Leaf<V>> {
    const stack: Node<V>[] = [this.#root]
    for (let node = stack.pop(); node; node = stack.pop()) {
      if (node.children === null) yield node
      else stack.push(...node.children.toReversed())
    }
  }

  *entries(): Generator<[string, V]> {
    for (const { keys, values } of this.leaves()) {
      for (let at = 0; at < keys.length; at++) yield [nth(keys, at), nth(values, at)]
    }
  }

  #own(node: Node<V>): Node<V> {
    if (node.edit === this.#edit) return node
    const { keys, values, children } = node
    return {
      edit: this.#edit,
      keys: keys.slice(),
      values: values.slice(),
      children: children?.slice() ?? null,
    }
  }

  #ownChild(children: Node<V>[], at: number): Node<V> {
    const child = this.#own(nth(children, at))
    children[at] = child
    return child
  }

  /** Inserts below an owned node; returns the node split off to its right when it grew too large. */
  #insert(node: Node<V>, key: string, value: V): Node<V> | null {
    if (node.children === null) return this.#insertInLeaf(node, key, value)
    const at = childIndex(node.keys, key)
    const right = this.#insert(this.#ownChild(node.children, at), key, value)
    if (right === null) return null
    node.children.splice(at + 1, 0, right)
    node.keys.splice(at + 1, 0, nth(right.keys, 0))
    return node.keys.length > MAX_SIZE ? this.#split(node, at + 1) : null
  }

  #insertInLeaf(leaf: Node<V>, key: string, value: V): Node<V> | null {
    const at = lowerBound(leaf.keys, key)
    if (leaf.keys[at] === key) {
      leaf.values[at] = value
      return null
    }
    leaf.keys.splice(at, 0, key)
    leaf.values.splice(at, 0, value)
    this.#size++
    return leaf.keys.length > MAX_SIZE ? this.#split(leaf, at) : null
  }

  /** Names that arrive in order leave full nodes behind: a split caused at the very end takes only the newest along. */
  #split(node: Node<V>, inserted: number): Node<V> {
    const middle = inserted === node.keys.length - 1 ? inserted : node.keys.length >> 1
    return {
      edit: this.#edit,
      keys: node.keys.splice(middle),
      values: node.values.splice(middle),
      children: node.children?.splice(middle) ?? null,
    }
  }

  #remove(node: Node<V>, key: string): boolean {
    if (node.children === null) {
      const at = lowerBound(node.keys, key)
      if (node.keys[at] !== key) return false
      node.keys.splice(at, 1)
      node.values.splice(at, 1)
      this.#size--
      return true
    }
    const at = childIndex(node.keys, key)
    const child = this.#ownChild(node.children, at)
    const deleted = this.#remove(child, key)
    if (child.keys.length < MIN_SIZE) this.#merge(node.children, node.keys, at > 0 ? at - 1 : at)
    return deleted
  }

  /** Joins the child at `left` with its right neighbour when both fit in one node. */
  #merge(children: Node<V>[], bounds: string[], left: number): void {
    const second = children[left + 1]
    if (second === undefined || nth(children, left).keys.length + second.keys.length > MAX_SIZE) return
    const first = this.#ownChild(children, left)
    if (first.children !== null && second.children !== null) {
      // The first name of a branch is no bound of its own; the parent's is.
      first.keys.push(nth(bounds, left + 1), ...second.keys.slice(1))
      first.children.push(...second.children)
    } else {
      first.keys.push(...second.keys)
      first.values.push(...second.values)
    }
    children.splice(left + 1, 1)
    bounds.splice(left + 1, 1)
  }
}

/** A run of entries: `keys[i]` names `values[i]`. */
export interface Leaf<V> {
  readonly keys: readonly string[]
  readonly values: readonly V[]
}

/**
 * A leaf has a value for each key. A branch has a child for each key, and every name in `children[i]` is at least
 * `keys[i]`; the first key is never compared, so the first child also takes whatever is smaller.
 */
interface Node<V> {
  readonly edit: EditToken
  readonly keys: string[]
  readonly values: V[]
  readonly children: Node<V>[] | null
}

function nth<T>(items: readonly T[], index: number): T {
  const item = items[index]
  if (item === undefined) throw new RangeError(`no item ${index} of ${items.length}`)
  return item
}

function lowerBound(keys: readonly string[], key: string): number {
  let low = 0
  let high = keys.length
  while (low < high) {
    const middle = (low + high) >> 1
    if (nth(keys, middle) < key) low = middle + 1
    else high = middle
  }
  return low
}

/** The child whose range holds the key: the last one that does not start after it. */
function childIndex(keys: readonly string[], key: string): number {
  let low = 1
  let high = keys.length
  while (low < high) {
    const middle = (low + high) >> 1
    if (nth(keys, middle) <= key) low = middle + 1
    else high = middle
  }
  return low - 1
}
