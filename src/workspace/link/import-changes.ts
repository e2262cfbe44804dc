import { fileTime } from '../../machine/index.ts'
import type { SessionChange } from '../session/index.ts'
import type { Entry } from './entry.ts'
import { PERMISSIONS } from './entry.ts'
import { hostEntry } from './host-entry.ts'
import { linkEntry, putEntry, removeEntry, type TreeFiles } from './tree.ts'
import { performWork, type TreeWork } from './tree-work.ts'

type Put = Extract<SessionChange, { kind: 'put' }>

/**
 * Makes a tree what a session made of it. Content is read from where the session has it; pipes, sockets and devices
 * are left out. One commit, if it is not too much for that.
 */
export async function importSession(tree: TreeFiles, changes: readonly SessionChange[]): Promise<void> {
  await performWork(tree, importWork(changes))
}

function importWork(changes: readonly SessionChange[]): TreeWork[] {
  const inOrder = changes.toSorted((one, other) => (one.path < other.path ? -1 : 1))
  const isLink = (change: SessionChange) => change.kind === 'put' && change.linkOf !== undefined
  // A second name comes when the file is there under its first.
  return [...inOrder.filter((change) => !isLink(change)), ...inOrder.filter(isLink)].flatMap((change) => {
    if (change.kind === 'gone') return [{ bytes: 0, run: (tree) => removeEntry(tree, change.path) }]
    const entry = entryOf(change)
    return entry === undefined ? [] : [{ bytes: entry.size, run: (tree) => put(tree, change, entry) }]
  })
}

function put(tree: TreeFiles, { path, linkOf }: Put, entry: Entry): void {
  if (linkOf !== undefined && linkEntry(tree, linkOf, path)) return
  putEntry(tree, path, entry)
}

/** What is at the place the session names, with the attributes it has for the commands. */
function entryOf({ type, host, mode, mtimeNs, uid, gid }: Put): Entry | undefined {
  const there = hostEntry(host)
  if (there === undefined || type === 'other') return undefined
  return { ...there, mode: mode & PERMISSIONS, mtime: fileTime(mtimeNs), uid, gid }
}
