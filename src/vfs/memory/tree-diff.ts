import { child } from '../path.ts'
import type { Change } from '../protocols.ts'
import { type DirectoryNode, type Node, statOf } from './nodes.ts'
import { TreeCursor } from './tree.ts'

/** What changed between two trees that may share nodes, sorted by path. What is shared is passed over. */
export function diffNodes(before: DirectoryNode, after: DirectoryNode): Change[] {
  const changes: Change[] = []
  const pending = [{ path: '/', before, after }]
  for (let pair = pending.pop(); pair; pair = pending.pop()) {
    for (const { key, old, now } of pair.after.entries.differencesFrom(pair.before.entries)) {
      const path = child(pair.path, key)
      if (old?.type === 'directory' && now?.type === 'directory')
        pending.push({ path, before: old, after: now })
      else if (old !== undefined && old.type === now?.type) changes.push(...modification(path, old, now))
      else changes.push(...whole(path, old, 'deleted'), ...whole(path, now, 'added'))
    }
  }
  return changes.sort((a, b) => (a.path < b.path ? -1 : 1))
}

function modification(path: string, old: Node, now: Node): Change[] {
  if (old.mode === now.mode && isSameContent(old, now)) return []
  return [{ kind: 'modified', path, before: statOf(old), after: statOf(now) }]
}

function isSameContent(old: Node, now: Node): boolean {
  if (old.type === 'symlink' && now.type === 'symlink') return old.target === now.target
  if (old.type !== 'file' || now.type !== 'file' || old.size !== now.size) return false
  return old.content === now.content || Buffer.compare(old.content.bytes, now.content.bytes) === 0
}

/** Everything at a path that came or went: its files, and the directories that hold nothing. */
function whole(path: string, node: Node | undefined, kind: 'added' | 'deleted'): Change[] {
  if (node === undefined) return []
  const changes: Change[] = []
  const note = (at: string, found: Node) => {
    if (found.type === 'directory' && found.entries.size > 0) return
    const stat = statOf(found)
    changes.push(kind === 'added' ? { kind, path: at, after: stat } : { kind, path: at, before: stat })
  }
  note(path, node)
  if (node.type !== 'directory') return changes
  const cursor = new TreeCursor(node, path)
  for (let found = cursor.next(); found !== undefined; found = cursor.next()) note(cursor.path, found)
  return changes
}
