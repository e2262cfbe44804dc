import { toFileTime } from '../../machine/index.ts'
import type { SessionChange } from '../session/index.ts'
import { findHostEntry } from './host-entry.ts'
import { isSameEntry, isSameTime, type LinkEntry, PERMISSION_BITS } from './link-entry.ts'
import { findEntry, linkEntry, putEntry, removeEntry, type TreeFiles } from './tree.ts'
import { performWork, type TreeWork } from './tree-work.ts'

type PutChange = Extract<SessionChange, { kind: 'put' }>

/**
 * Applies the changes of a session to a tree. Reads content from the session's files; skips pipes, sockets and
 * devices. Makes one commit unless the content is too large.
 */
export async function importSession(tree: TreeFiles, changes: readonly SessionChange[]): Promise<void> {
  await performWork(tree, createImportWork(changes))
}

/** True if a tree already has what a change of a session puts or removes, with the same time of a file. */
export function isImported(tree: TreeFiles, change: SessionChange): boolean {
  const entry = change.kind === 'gone' ? undefined : toLinkEntry(change)
  const kept = findEntry(tree, change.path)
  if (kept?.type === 'file' && entry?.type === 'file' && !isSameTime(kept, entry)) return false
  return isSameEntry(kept, entry)
}

function createImportWork(changes: readonly SessionChange[]): TreeWork[] {
  const inOrder = changes.toSorted((one, other) => (one.path < other.path ? -1 : 1))
  const isLink = (change: SessionChange) => change.kind === 'put' && change.linkOf !== undefined
  // A second name is linked after its file exists.
  return [...inOrder.filter((change) => !isLink(change)), ...inOrder.filter(isLink)].flatMap((change) => {
    if (change.kind === 'gone') return [{ bytes: 0, run: (tree) => removeEntry(tree, change.path) }]
    const entry = toLinkEntry(change)
    return entry === undefined ? [] : [{ bytes: entry.size, run: (tree) => importPut(tree, change, entry) }]
  })
}

function importPut(tree: TreeFiles, { path, linkOf }: PutChange, entry: LinkEntry): void {
  if (linkOf !== undefined && linkEntry(tree, linkOf, path)) return
  putEntry(tree, path, entry)
}

/** Returns the entry at the session's path, with the attributes that the commands see. */
function toLinkEntry({ type, host, mode, mtimeNs, uid, gid }: PutChange): LinkEntry | undefined {
  const hostEntry = findHostEntry(host)
  if (hostEntry === undefined || type === 'other') return undefined
  return { ...hostEntry, mode: mode & PERMISSION_BITS, mtime: toFileTime(mtimeNs), uid, gid }
}
