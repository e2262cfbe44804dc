import type { SubKey } from './tree-key.ts'

/** Permission to change nodes in place: a node made under the same token is reachable from one tree only. */
export type NodeEditToken = object

/**
 * A leaf: `groups[i]`, `subs[i]` is the key of `values[i]`. The id is 0 until the node is stored; from then on it
 * never changes.
 */
export interface Leaf<V> {
  id: number
  edit: NodeEditToken | null
  readonly level: 0
  readonly groups: number[]
  readonly subs: SubKey[]
  readonly values: V[]
}

/** A branch: every key in `children[i]` is at least key `i`; the first child also has all smaller keys. */
export interface Branch<V> {
  id: number
  edit: NodeEditToken | null
  readonly level: number
  readonly groups: number[]
  readonly subs: SubKey[]
  readonly children: NodeRef<V>[]
}

export type TreeNode<V> = Leaf<V> | Branch<V>

/** A stored node by its id, or one that is not stored yet. */
export type NodeRef<V> = number | TreeNode<V>

export function isBranch<V>(node: TreeNode<V>): node is Branch<V> {
  return node.level > 0
}

export function createEmptyLeaf<V>(edit: NodeEditToken | null): Leaf<V> {
  return createLeaf({ id: 0, edit, groups: [], subs: [] }, [])
}

/** Fields that leaves and branches share. */
type NodeKeys = Pick<TreeNode<unknown>, 'id' | 'edit' | 'groups' | 'subs'>

/** Creates a leaf. All leaves have their fields in this order: V8 reads objects of one shape faster. */
export function createLeaf<V>({ id, edit, groups, subs }: NodeKeys, values: V[]): Leaf<V> {
  return { id, edit, level: 0, groups, subs, values }
}

/** Creates a branch, in one order of fields, too. */
export function createBranch<V>(
  { id, edit, groups, subs }: NodeKeys,
  level: number,
  children: NodeRef<V>[],
): Branch<V> {
  return { id, edit, level, groups, subs, children }
}

/** Returns the index of the first key that is not smaller. */
export function lowerBound<V>({ groups, subs }: TreeNode<V>, group: number, sub: SubKey): number {
  let low = 0
  let high = groups.length
  while (low < high) {
    const middle = (low + high) >> 1
    const other = getItem(groups, middle)
    // Every key of a group is compared once: text takes longer than numbers.
    if (other < group || (other === group && getItem(subs, middle) < sub)) low = middle + 1
    else high = middle
  }
  return low
}

export function hasKey<V>({ groups, subs }: TreeNode<V>, index: number, group: number, sub: SubKey): boolean {
  return groups[index] === group && subs[index] === sub
}

/** Returns the index of the child whose range includes a key: the last one that does not start after it. */
export function findChildIndex<V>({ groups, subs }: Branch<V>, group: number, sub: SubKey): number {
  let low = 1
  let high = groups.length
  while (low < high) {
    const middle = (low + high) >> 1
    const other = getItem(groups, middle)
    if (other < group || (other === group && !(sub < getItem(subs, middle)))) low = middle + 1
    else high = middle
  }
  return low - 1
}

/** Returns an item that must exist. RangeError if the tree is broken. */
export function getItem<T>(items: readonly T[], index: number): T {
  const item = items[index]
  if (item === undefined) throw new RangeError(`no item ${index} of ${items.length}`)
  return item
}
