import type { LeafEntry, NodeSource } from './tree.ts'
import { compareKeys, type SubKey } from './tree-key.ts'
import { getItem, isBranch, type NodeRef, type TreeNode } from './tree-node.ts'

/** An entry whose value differs between two trees; undefined where it is missing. */
export interface EntryChange<V> {
  readonly group: number
  readonly sub: SubKey
  readonly before: V | undefined
  readonly after: V | undefined
}

/**
 * Lists the differences between two trees in the order of keys, in time proportional to the differences. Descends
 * both trees level by level and drops shared nodes, so it never enters equal subtrees.
 */
export function diffTrees<V>(
  source: NodeSource<V>,
  before: NodeRef<V>,
  after: NodeRef<V>,
  isEqual: (before: V, after: V) => boolean,
): EntryChange<V>[] {
  const resolveAll = (refs: readonly NodeRef<V>[]) =>
    refs.map((ref) => (typeof ref === 'number' ? source.load(ref, refs) : ref))
  let [old, current] = dropSharedNodes([before], [after])
  for (;;) {
    const [oldNodes, newNodes] = [resolveAll(old), resolveAll(current)]
    const level = Math.max(findHighestLevel(oldNodes), findHighestLevel(newNodes))
    if (level === 0) return diffEntries(oldNodes, newNodes, isEqual)
    // The trees may differ in height: only nodes of the highest level are opened, so that equal nodes meet.
    const openHighest = (refs: readonly NodeRef<V>[], nodes: readonly TreeNode<V>[]) =>
      nodes.flatMap((node, index) =>
        isBranch(node) && node.level === level ? node.children : [getItem(refs, index)],
      )
    ;[old, current] = dropSharedNodes(openHighest(old, oldNodes), openHighest(current, newNodes))
  }
}

/** Returns the highest level of nodes; 0 without any. There may be more nodes than a call can have arguments. */
function findHighestLevel<V>(nodes: readonly TreeNode<V>[]): number {
  return nodes.reduce((highest, { level }) => Math.max(highest, level), 0)
}

/** Removes the nodes that are in both lists. */
function dropSharedNodes<V>(
  old: readonly NodeRef<V>[],
  current: readonly NodeRef<V>[],
): [NodeRef<V>[], NodeRef<V>[]] {
  const [oldKeys, newKeys] = [new Set(old.map(toNodeIdentity)), new Set(current.map(toNodeIdentity))]
  return [
    old.filter((ref) => !newKeys.has(toNodeIdentity(ref))),
    current.filter((ref) => !oldKeys.has(toNodeIdentity(ref))),
  ]
}

/** Returns one identity for a node, whether referenced by object or by id. */
function toNodeIdentity<V>(ref: NodeRef<V>): NodeRef<V> {
  return typeof ref !== 'number' && ref.id !== 0 ? ref.id : ref
}

/** Lists the entries that differ between two lists of leaves, in the order of keys. */
function diffEntries<V>(
  old: readonly TreeNode<V>[],
  current: readonly TreeNode<V>[],
  isEqual: (before: V, after: V) => boolean,
): EntryChange<V>[] {
  const changes: EntryChange<V>[] = []
  const [left, right] = [listLeafEntries(old), listLeafEntries(current)]
  for (let i = 0, j = 0; i < left.length || j < right.length; ) {
    const [a, b] = [left[i], right[j]]
    const order = a === undefined ? 1 : b === undefined ? -1 : compareKeys(a.group, a.sub, b.group, b.sub)
    if (order <= 0) i++
    if (order >= 0) j++
    // A value read from two pages is two objects.
    if (order === 0 && a && b && (a.value === b.value || isEqual(a.value, b.value))) continue
    const [before, after] = [order <= 0 ? a : undefined, order >= 0 ? b : undefined]
    const { group, sub } = before ?? getItem(right, j - 1)
    changes.push({ group, sub, before: before?.value, after: after?.value })
  }
  return changes
}

function listLeafEntries<V>(nodes: readonly TreeNode<V>[]): LeafEntry<V>[] {
  return nodes.flatMap((node) =>
    isBranch(node)
      ? []
      : node.groups.map((group, index) => ({
          group,
          sub: getItem(node.subs, index),
          value: getItem(node.values, index),
        })),
  )
}
