import { ROOT_INODE, VAULT_INODE, VaultFiles } from '../files/vault-files.ts'
import type { StoreHome } from '../store-home.ts'
import { PageFault } from '../tree/node-cache.ts'
import { type NodeSource, Tree } from '../tree/tree.ts'
import { entryKinds, getGroupInode, getGroupKind, toGroup } from '../tree/tree-key.ts'
import { createEmptyLeaf, type TreeNode } from '../tree/tree-node.ts'
import type { BlobRef, Inode, TreeValue } from '../tree/tree-values.ts'

/** A file of a tree that may be damaged. */
export interface SalvagedFile {
  readonly path: string
  /** Undefined if the inode itself is lost. */
  readonly inode: Inode | undefined
  /** Blobs by chunk index. */
  readonly blobs: ReadonlyMap<number, BlobRef>
}

/** Returns nodes of a tree, with an empty node in place of each damaged one. */
class FaultTolerantNodes implements NodeSource<TreeValue> {
  readonly damaged: Set<number> = new Set()
  readonly #nodes: NodeSource<TreeValue>

  constructor(nodes: NodeSource<TreeValue>) {
    this.#nodes = nodes
  }

  load(id: number): TreeNode<TreeValue> {
    try {
      return this.#nodes.load(id)
    } catch (error) {
      if (error instanceof PageFault) throw error
      this.damaged.add(id)
      return { ...createEmptyLeaf<TreeValue>(null), id }
    }
  }
}

/** Everything readable of a damaged tree, all in memory. */
export class SalvagedTree {
  readonly files: VaultFiles
  readonly #nodes: FaultTolerantNodes

  constructor(home: StoreHome, root: number) {
    this.#nodes = new FaultTolerantNodes(home.cache.createScanSource())
    this.files = new VaultFiles(new Tree<TreeValue>(this.#nodes, root))
  }

  /** Pages that could not be read so far. */
  get damagedPages(): ReadonlySet<number> {
    return this.#nodes.damaged
  }

  /**
   * Lists all files and directories by path, so each after its directory. Those without a name are in `/lost+found`.
   */
  list(): SalvagedFile[] {
    const inodes = new Map<number, Inode>()
    const names: { readonly parent: number; readonly name: string; readonly number: number }[] = []
    const blobs = new Map<number, Map<number, BlobRef>>()
    for (const { group, sub, value } of this.files.tree.iterateFrom(
      toGroup(VAULT_INODE, entryKinds.inode),
      0,
    )) {
      const number = getGroupInode(group)
      if (value instanceof Uint8Array) continue
      if (getGroupKind(group) === entryKinds.inode && 'mtime' in value) {
        inodes.set(number, value)
        const { content } = value
        if (typeof content === 'object' && 'blob' in content) blobs.set(number, new Map([[0, content]]))
      } else if (getGroupKind(group) === entryKinds.entry && 'inode' in value) {
        names.push({ parent: number, name: String(sub), number: value.inode })
      } else if (getGroupKind(group) === entryKinds.chunk && 'blob' in value) {
        const chunks = blobs.get(number) ?? new Map<number, BlobRef>()
        blobs.set(number, chunks.set(Number(sub), value))
      }
    }
    const paths = buildPaths(names, inodes)
    return [...paths]
      .map(([path, number]) => ({ path, inode: inodes.get(number), blobs: blobs.get(number) ?? new Map() }))
      .toSorted((one, other) => (one.path < other.path ? -1 : 1))
  }
}

/** Maps every path to its inode, from the root; inodes without a name go below `/lost+found`. */
function buildPaths(
  names: readonly { readonly parent: number; readonly name: string; readonly number: number }[],
  inodes: ReadonlyMap<number, Inode>,
): Map<string, number> {
  const children = Map.groupBy(names, ({ parent }) => parent)
  const paths = new Map<string, number>()
  const reached = new Set([VAULT_INODE, ROOT_INODE])
  const follow = (from: number, directory: string) => {
    const pending = [{ from, directory }]
    for (let next = pending.pop(); next !== undefined; next = pending.pop()) {
      for (const { name, number } of children.get(next.from) ?? []) {
        const path = `${next.directory}/${name}`
        paths.set(path, number)
        const isNew = !reached.has(number)
        reached.add(number)
        if (isNew && children.has(number)) pending.push({ from: number, directory: path })
      }
    }
  }
  follow(ROOT_INODE, '')
  const parents = new Set(children.keys())
  for (const number of [...parents, ...inodes.keys()]) {
    if (reached.has(number)) continue
    const inode = inodes.get(number)
    if (inode !== undefined && inode.links === 0) continue
    reached.add(number)
    const path = `/lost+found/${number}${inode === undefined ? '' : `-${inode.name}`}`
    paths.set(path, number)
    follow(number, path)
  }
  return paths
}
