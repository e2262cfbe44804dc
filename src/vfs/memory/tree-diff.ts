import { equalBytes } from '../bytes.ts'
import { child } from '../path.ts'
import type { PathChange } from '../protocols.ts'
import type { TreeSnapshot } from './memory-tree.ts'
import { type MemoryNode, toStat } from './nodes.ts'
import type { SharedFiles } from './shared-files.ts'
import { TreeCursor } from './tree-cursor.ts'

/** Lists the changes between two trees, sorted by path. Skips shared nodes. */
export function diffSnapshots(before: TreeSnapshot, after: TreeSnapshot): PathChange[] {
  const changes: PathChange[] = []
  const pending = [{ path: '/', before: before.root, after: after.root }]
  for (let pair = pending.pop(); pair; pair = pending.pop()) {
    for (const { key, old: oldEntry, current: newEntry } of pair.after.entries.differencesFrom(
      pair.before.entries,
    )) {
      const path = child(pair.path, key)
      const old = oldEntry && before.shared.getNode(oldEntry)
      const current = newEntry && after.shared.getNode(newEntry)
      if (old?.type === 'directory' && current?.type === 'directory')
        pending.push({ path, before: old, after: current })
      else if (old !== undefined && old.type === current?.type)
        changes.push(...compareNodes(path, old, current))
      else
        changes.push(
          ...listSubtreeChanges(path, old, before.shared, 'deleted'),
          ...listSubtreeChanges(path, current, after.shared, 'added'),
        )
    }
  }
  changes.push(...findLinkedChanges(before, after, new Set(changes.map(({ path }) => path))))
  return changes.sort((a, b) => (a.path < b.path ? -1 : 1))
}

/** Finds files that changed under another name, so that their directory entry did not change. */
function findLinkedChanges(
  before: TreeSnapshot,
  after: TreeSnapshot,
  reported: ReadonlySet<string>,
): PathChange[] {
  const changed = after.shared.findChangedInodes(before.shared)
  if (changed.size === 0) return []
  const old = new Map<string, MemoryNode>()
  const earlier = new TreeCursor(before.root, before.shared, '/')
  for (let node = earlier.next(); node; node = earlier.next()) {
    if (changed.has(node.ino)) old.set(earlier.path, node)
  }
  const changes: PathChange[] = []
  const cursor = new TreeCursor(after.root, after.shared, '/')
  for (let node = cursor.next(); node; node = cursor.next()) {
    const oldNode = changed.has(node.ino) && !reported.has(cursor.path) ? old.get(cursor.path) : undefined
    if (oldNode !== undefined) changes.push(...compareNodes(cursor.path, oldNode, node))
  }
  return changes
}

function compareNodes(path: string, old: MemoryNode, current: MemoryNode): PathChange[] {
  if (old.mode === current.mode && isSameContent(old, current)) return []
  return [{ kind: 'modified', path, before: toStat(old), after: toStat(current) }]
}

function isSameContent(old: MemoryNode, current: MemoryNode): boolean {
  if (old.type === 'symlink' && current.type === 'symlink') return old.target === current.target
  if (old.type !== 'file' || current.type !== 'file' || old.size !== current.size) return false
  return old.content === current.content || equalBytes(old.content.bytes, current.content.bytes)
}

/** Lists what was added or deleted at a path: its files and its empty directories. */
function listSubtreeChanges(
  path: string,
  node: MemoryNode | undefined,
  shared: SharedFiles,
  kind: 'added' | 'deleted',
): PathChange[] {
  if (node === undefined) return []
  const changes: PathChange[] = []
  const addChange = (path: string, found: MemoryNode) => {
    if (found.type === 'directory' && found.entries.size > 0) return
    const stat = toStat(found)
    changes.push(kind === 'added' ? { kind, path, after: stat } : { kind, path, before: stat })
  }
  addChange(path, node)
  if (node.type !== 'directory') return changes
  const cursor = new TreeCursor(node, shared, path)
  for (let found = cursor.next(); found !== undefined; found = cursor.next()) addChange(cursor.path, found)
  return changes
}
