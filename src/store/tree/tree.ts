import type { SubKey } from './tree-key.ts'
import {
  type Branch,
  createBranch,
  createEmptyLeaf,
  createLeaf,
  findChildIndex,
  getItem,
  hasKey,
  isBranch,
  type Leaf,
  lowerBound,
  type NodeEditToken,
  type NodeRef,
  type TreeNode,
} from './tree-node.ts'

const MAX_KEYS = 64
/** Number of keys below which a node is merged with a neighbour, if both leave room to grow. */
const MERGE_BELOW_KEYS = MAX_KEYS / 4
const MAX_MERGED_KEYS = (MAX_KEYS * 3) / 4

/** Reads stored nodes by id. A remote source throws a fault for a node that is not cached. */
export interface NodeSource<V> {
  /** @param siblings nodes that are likely to be loaded soon, too */
  load(id: number, siblings?: readonly NodeRef<V>[]): TreeNode<V>
  /** Returns a source for a scan that reads each node once. */
  createScanSource?(): NodeSource<V>
  /** Lists the blobs to which a value refers; it refers to none when absent. */
  listBlobs?(value: V): readonly { readonly blob: number }[]
}

/**
 * An ordered copy-on-write tree: trees share nodes. A fork copies the reference of the root; a change creates new
 * nodes on one path from the root.
 */
export class Tree<V> {
  readonly #source: NodeSource<V>
  #root: NodeRef<V>
  #edit: NodeEditToken = {}
  #changes = 0

  constructor(source: NodeSource<V>, root: NodeRef<V> = createEmptyLeaf<V>(null)) {
    this.#source = source
    this.#root = root
  }

  /** Number of changes: equal numbers mean an unchanged tree. */
  get changes(): number {
    return this.#changes
  }

  /** Returns a snapshot. Later changes copy the nodes they share with it. */
  snapshot(): NodeRef<V> {
    this.#edit = {}
    return this.#root
  }

  /** Returns a tree with the same entries, which changes on its own. */
  fork(): Tree<V> {
    return new Tree(this.#source, this.snapshot())
  }

  /** Forks the tree for a full scan. */
  forkForScan(): Tree<V> {
    return new Tree(this.#source.createScanSource?.() ?? this.#source, this.snapshot())
  }

  /** Returns the highest stored nodes: together they lead to every stored node. */
  listStoredRoots(): number[] {
    const ids = Array.from(this.#listHighest(), (ref) => (typeof ref === 'number' ? ref : ref.id))
    return ids.filter((id) => id !== 0)
  }

  /** Returns the blobs to which leaves refer that are not stored yet: no page leads to these. */
  listStoredBlobs(): number[] {
    const blobs: number[] = []
    for (const ref of this.#listHighest()) {
      if (typeof ref === 'number' || ref.id !== 0 || isBranch(ref)) continue
      for (const value of ref.values)
        for (const { blob } of this.#source.listBlobs?.(value) ?? []) blobs.push(blob)
    }
    return blobs
  }

  /** Yields the highest stored nodes, and the leaves that are not stored. */
  *#listHighest(): Generator<NodeRef<V>> {
    const pending = [this.#root]
    for (let ref = pending.pop(); ref !== undefined; ref = pending.pop()) {
      if (typeof ref !== 'number' && ref.id === 0 && isBranch(ref)) pending.push(...ref.children)
      else yield ref
    }
  }

  /** Switches to another root in O(1). */
  reset(root: NodeRef<V>): void {
    this.#changes++
    this.#edit = {}
    this.#root = root
  }

  get(group: number, sub: SubKey): V | undefined {
    let node = this.#resolve(this.#root)
    while (isBranch(node)) node = this.#resolveChild(node, findChildIndex(node, group, sub))
    const index = lowerBound(node, group, sub)
    return hasKey(node, index, group, sub) ? node.values[index] : undefined
  }

  /** Yields the entries from a key on, in order. Changes meanwhile are not seen. */
  *iterateFrom(group: number, sub: SubKey): Generator<LeafEntry<V>> {
    for (const { leaf, start } of this.#leavesFrom(this.snapshot(), group, sub)) {
      for (let index = start; index < leaf.groups.length; index++)
        yield {
          group: getItem(leaf.groups, index),
          sub: getItem(leaf.subs, index),
          value: getItem(leaf.values, index),
        }
    }
  }

  /** Yields the entries of one group, in order, from a sub on. */
  *iterateGroup(group: number, fromSub: SubKey = ''): Generator<LeafEntry<V>> {
    for (const entry of this.iterateFrom(group, fromSub)) {
      if (entry.group !== group) return
      yield entry
    }
  }

  /** Yields the parts of leaves that have the entries of one group, in order, from a sub on: faster than one by one. */
  *readGroup(group: number, from: SubKey): Generator<LeafPart<V>> {
    for (const { leaf, start } of this.#leavesFrom(this.#root, group, from)) {
      const end = findGroupEnd(leaf, group, start)
      if (end > start) yield { leaf, start, end }
      if (end < leaf.groups.length) return
    }
  }

  /** Returns the entries of a range of groups, in order. Unlike an iteration, it needs no snapshot. */
  listGroups(first: number, end: number): LeafEntry<V>[] {
    const entries: LeafEntry<V>[] = []
    for (const { leaf, start } of this.#leavesFrom(this.#root, first, 0)) {
      for (let index = start; index < leaf.groups.length; index++) {
        const group = getItem(leaf.groups, index)
        if (group >= end) return entries
        entries.push({ group, sub: getItem(leaf.subs, index), value: getItem(leaf.values, index) })
      }
    }
    return entries
  }

  /** Yields the entries of a range of groups, in order. */
  *iterateGroups(first: number, end: number): Generator<LeafEntry<V>> {
    for (const entry of this.iterateFrom(first, 0)) {
      if (entry.group >= end) return
      yield entry
    }
  }

  set(group: number, sub: SubKey, value: V): void {
    this.#changes++
    const root = this.#copyForEdit(this.#resolve(this.#root))
    const right = this.#insert(root, group, sub, value)
    this.#root = right === null ? root : this.#createParent(root, right)
  }

  /** Removes an entry; false if it is missing. */
  delete(group: number, sub: SubKey): boolean {
    this.#changes++
    const root = this.#copyForEdit(this.#resolve(this.#root))
    const deleted = this.#remove(root, group, sub)
    this.#root = isBranch(root) && root.children.length === 1 ? getItem(root.children, 0) : root
    return deleted
  }

  /** Yields the leaves from a key on, each with its start index. */
  *#leavesFrom(root: NodeRef<V>, group: number, sub: SubKey): Generator<{ leaf: Leaf<V>; start: number }> {
    const stack: { branch: Branch<V>; next: number }[] = []
    let node = this.#resolve(root)
    while (isBranch(node)) {
      const index = findChildIndex(node, group, sub)
      stack.push({ branch: node, next: index + 1 })
      node = this.#resolveChild(node, index)
    }
    yield { leaf: node, start: lowerBound(node, group, sub) }
    for (let level = stack.at(-1); level; level = stack.at(-1)) {
      if (level.next === level.branch.children.length) {
        stack.pop()
        continue
      }
      const child = this.#resolveChild(level.branch, level.next++)
      if (isBranch(child)) stack.push({ branch: child, next: 0 })
      else yield { leaf: child, start: 0 }
    }
  }

  #resolveChild({ children }: Branch<V>, index: number): TreeNode<V> {
    const ref = getItem(children, index)
    return typeof ref === 'number' ? this.#source.load(ref, children) : ref
  }

  #resolve(ref: NodeRef<V>): TreeNode<V> {
    return typeof ref === 'number' ? this.#source.load(ref) : ref
  }

  #copyForEdit(node: TreeNode<V>): TreeNode<V> {
    if (node.edit === this.#edit && node.id === 0) return node
    const keys = { id: 0, edit: this.#edit, groups: node.groups.slice(), subs: node.subs.slice() }
    return isBranch(node)
      ? createBranch(keys, node.level, node.children.slice())
      : createLeaf(keys, node.values.slice())
  }

  #copyChildForEdit(parent: Branch<V>, index: number): TreeNode<V> {
    const child = this.#copyForEdit(this.#resolveChild(parent, index))
    parent.children[index] = child
    return child
  }

  #createParent(left: TreeNode<V>, right: TreeNode<V>): Branch<V> {
    const groups = [getItem(left.groups, 0), getItem(right.groups, 0)]
    const subs = [getItem(left.subs, 0), getItem(right.subs, 0)]
    return createBranch({ id: 0, edit: this.#edit, groups, subs }, left.level + 1, [left, right])
  }

  /** Inserts below an owned node; returns the new right sibling if the node was split. */
  #insert(node: TreeNode<V>, group: number, sub: SubKey, value: V): TreeNode<V> | null {
    if (!isBranch(node)) return this.#insertInLeaf(node, group, sub, value)
    const index = findChildIndex(node, group, sub)
    const right = this.#insert(this.#copyChildForEdit(node, index), group, sub, value)
    if (right === null) return null
    insertAt(node.groups, index + 1, getItem(right.groups, 0))
    insertAt(node.subs, index + 1, getItem(right.subs, 0))
    insertAt<NodeRef<V>>(node.children, index + 1, right)
    return node.groups.length > MAX_KEYS ? this.#split(node, index + 1) : null
  }

  #insertInLeaf(leaf: Leaf<V>, group: number, sub: SubKey, value: V): TreeNode<V> | null {
    const index = lowerBound(leaf, group, sub)
    if (hasKey(leaf, index, group, sub)) {
      leaf.values[index] = value
      return null
    }
    insertAt(leaf.groups, index, group)
    insertAt(leaf.subs, index, sub)
    insertAt(leaf.values, index, value)
    return leaf.groups.length > MAX_KEYS ? this.#split(leaf, index) : null
  }

  /** Splits a node. A split at the very end moves only the newest key, so that sequential inserts leave full nodes. */
  #split(node: TreeNode<V>, inserted: number): TreeNode<V> {
    const middle = inserted === node.groups.length - 1 ? inserted : node.groups.length >> 1
    const moved = {
      id: 0,
      edit: this.#edit,
      groups: node.groups.splice(middle),
      subs: node.subs.splice(middle),
    }
    return isBranch(node)
      ? createBranch(moved, node.level, node.children.splice(middle))
      : createLeaf(moved, node.values.splice(middle))
  }

  #remove(node: TreeNode<V>, group: number, sub: SubKey): boolean {
    if (!isBranch(node)) {
      const index = lowerBound(node, group, sub)
      if (!hasKey(node, index, group, sub)) return false
      node.groups.splice(index, 1)
      node.subs.splice(index, 1)
      node.values.splice(index, 1)
      return true
    }
    const index = findChildIndex(node, group, sub)
    const child = this.#copyChildForEdit(node, index)
    const deleted = this.#remove(child, group, sub)
    if (child.groups.length < MERGE_BELOW_KEYS) this.#merge(node, index > 0 ? index - 1 : index)
    return deleted
  }

  /** Merges the child at index `left` with its right neighbour, if both fit well in one node. */
  #merge(parent: Branch<V>, left: number): void {
    if (left + 1 >= parent.children.length) return
    const second = this.#resolveChild(parent, left + 1)
    const first = this.#resolveChild(parent, left)
    if (first.groups.length + second.groups.length > MAX_MERGED_KEYS) return
    const joined = this.#copyChildForEdit(parent, left)
    if (isBranch(joined) && isBranch(second)) {
      // The first key of a branch is never compared; the true bound is the parent's.
      joined.groups.push(getItem(parent.groups, left + 1), ...second.groups.slice(1))
      joined.subs.push(getItem(parent.subs, left + 1), ...second.subs.slice(1))
      joined.children.push(...second.children)
    } else if (!isBranch(joined) && !isBranch(second)) {
      joined.groups.push(...second.groups)
      joined.subs.push(...second.subs)
      joined.values.push(...second.values)
    }
    parent.groups.splice(left + 1, 1)
    parent.subs.splice(left + 1, 1)
    parent.children.splice(left + 1, 1)
  }
}

/** Inserts an item; most are inserted at the end, where `splice` takes longer. */
function insertAt<T>(items: T[], index: number, item: T): void {
  if (index === items.length) items.push(item)
  else items.splice(index, 0, item)
}

/** Returns the index where a group ends in a leaf. */
function findGroupEnd<V>({ groups }: Leaf<V>, group: number, start: number): number {
  let end = start
  while (end < groups.length && groups[end] === group) end++
  return end
}

/** The entries of a leaf from one index on, below another. They are those of the tree: read them before it changes. */
export interface LeafPart<V> {
  readonly leaf: Leaf<V>
  readonly start: number
  readonly end: number
}

export interface LeafEntry<V> {
  readonly group: number
  readonly sub: SubKey
  readonly value: V
}
