import { compareKeys, type Sub } from './key.ts'

/** Permission to change nodes in place: a node made under the same token is reachable from one tree only. */
export type EditToken = object

/**
 * A leaf of the tree: `groups[i]`, `subs[i]` is the key of `values[i]`.
 * The id is 0 until the node is stored; from then on it never changes again.
 */
export interface Leaf<V> {
  id: number
  edit: EditToken | null
  readonly level: 0
  readonly groups: number[]
  readonly subs: Sub[]
  readonly values: V[]
}

/** Every key in `children[i]` is at least key `i`; the first child also takes whatever is smaller. */
export interface Branch<V> {
  id: number
  edit: EditToken | null
  readonly level: number
  readonly groups: number[]
  readonly subs: Sub[]
  readonly children: NodeRef<V>[]
}

export type Node<V> = Leaf<V> | Branch<V>

/** A stored node by its id, or one that is not stored yet. */
export type NodeRef<V> = number | Node<V>

export function isBranch<V>(node: Node<V>): node is Branch<V> {
  return node.level > 0
}

export function emptyLeaf<V>(edit: EditToken | null): Leaf<V> {
  return { id: 0, edit, level: 0, groups: [], subs: [], values: [] }
}

/** The first place whose key is not smaller. */
export function lowerBound<V>({ groups, subs }: Node<V>, group: number, sub: Sub): number {
  let low = 0
  let high = groups.length
  while (low < high) {
    const middle = (low + high) >> 1
    if (compareKeys(at(groups, middle), at(subs, middle), group, sub) < 0) low = middle + 1
    else high = middle
  }
  return low
}

export function hasKey<V>({ groups, subs }: Node<V>, index: number, group: number, sub: Sub): boolean {
  return groups[index] === group && subs[index] === sub
}

/** The child whose range holds a key: the last one that does not start after it. */
export function childIndex<V>({ groups, subs }: Branch<V>, group: number, sub: Sub): number {
  let low = 1
  let high = groups.length
  while (low < high) {
    const middle = (low + high) >> 1
    if (compareKeys(at(groups, middle), at(subs, middle), group, sub) <= 0) low = middle + 1
    else high = middle
  }
  return low - 1
}

/** An item that must be there: a tree that lacks it is broken, and no default would mend it. */
export function at<T>(items: readonly T[], index: number): T {
  const item = items[index]
  if (item === undefined) throw new RangeError(`no item ${index} of ${items.length}`)
  return item
}
