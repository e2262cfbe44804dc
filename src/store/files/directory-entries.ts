import { basename, dirname, VfsError } from '../../vfs/index.ts'
import { entryKinds, toGroup, toGroupRange } from '../tree/tree-key.ts'
import type { Inode } from '../tree/tree-values.ts'
import {
  createDirectoryFields,
  type Moment,
  type NewInode,
  ROOT_INODE,
  VAULT_INODE,
  type VaultFiles,
} from './vault-files.ts'

/** A name in a directory. */
export interface Dentry {
  readonly parent: number
  readonly name: string
}

/** Returns the dentry of a path. ENOENT if its directory is missing. */
export function getDentry(files: VaultFiles, path: string, op: string): Dentry {
  const parent = files.findByPath(dirname(path))
  if (parent === undefined) throw new VfsError('ENOENT', path, { op })
  return { parent, name: basename(path) }
}

/**
 * Returns the parent directory of a path, created with its ancestors if `parents`. Throws ENOENT if it is missing and
 * not to be created, ENOTDIR if an ancestor is no directory.
 */
export function ensureParent(
  files: VaultFiles,
  path: string,
  parents: boolean,
  op: string,
  moment: Moment,
): number {
  let number = ROOT_INODE
  for (let start = 1, slash = path.indexOf('/', start); slash !== -1; slash = path.indexOf('/', start)) {
    const name = path.slice(start, slash)
    const entry = files.findEntry(number, name)
    if (entry === undefined && !parents) throw new VfsError('ENOENT', path, { op })
    if (entry !== undefined && entry.type !== 'directory') throw new VfsError('ENOTDIR', path, { op })
    number = entry?.inode ?? createInode(files, { parent: number, name }, createDirectoryFields(), moment)
    start = slash + 1
  }
  return number
}

/** Creates an inode under a name, and returns its number. */
export function createInode(files: VaultFiles, dentry: Dentry, fields: NewInode, moment: Moment): number {
  const { time, seq } = moment
  const counters = files.getCounters()
  const { nextInode: number } = counters
  const { type, size } = fields
  files.setCounters({
    nextInode: number + 1,
    files: counters.files + (type === 'directory' ? 0 : 1),
    bytes: counters.bytes + (type === 'file' ? size : 0),
    symlinks: counters.symlinks + (type === 'symlink' ? 1 : 0),
  })
  // In the order of a decoded inode, so that all inodes have one shape.
  files.setInode(number, {
    type,
    mode: fields.mode,
    uid: fields.uid ?? 0,
    gid: fields.gid ?? 0,
    links: 1,
    size,
    mtime: fields.mtime ?? time,
    ctime: time,
    atime: fields.atime ?? time,
    version: seq,
    parent: dentry.parent,
    name: dentry.name,
    content: fields.content,
  })
  setEntry(files, dentry, number, type, moment)
  return number
}

/** Adds a name to a file. */
export function link(files: VaultFiles, number: number, dentry: Dentry, moment: Moment): void {
  const inode = files.getInode(number)
  if (inode.links === 0) {
    files.tree.delete(toGroup(VAULT_INODE, entryKinds.link), String(number))
    files.setInode(number, { ...inode, ...dentry, links: 1, ctime: moment.time })
  } else {
    files.tree.set(toGroup(number, entryKinds.link), formatLinkKey(dentry), new Uint8Array(0))
    files.setInode(number, { ...inode, links: inode.links + 1, ctime: moment.time })
  }
  setEntry(files, dentry, number, inode.type, moment)
}

/**
 * Removes a name, and its inode with all descendants if that was the last one. `keep`: an open file or empty
 * directory stays without a name until it is released.
 */
export function unlink(
  files: VaultFiles,
  dentry: Dentry,
  number: number,
  moment: Moment,
  keep = false,
): void {
  const inode = files.getInode(number)
  removeEntry(files, dentry, inode.type, moment)
  if (inode.links > 1) removeName(files, number, inode, dentry, moment)
  else if (inode.type === 'directory' && !(keep && !files.hasEntries(number)))
    removeDirectory(files, number, moment)
  else if (!keep) removeInode(files, number)
  else {
    files.tree.set(toGroup(VAULT_INODE, entryKinds.link), String(number), new Uint8Array(0))
    files.setInode(number, { ...inode, links: 0, ctime: moment.time })
  }
}

/** Throws ENOENT if an inode is missing or was unlinked while open, ENOTDIR if it is no directory. */
export function assertDirectory(files: VaultFiles, number: number, path: string, op: string): void {
  const inode = files.findInode(number)
  if (inode === undefined) throw new VfsError('ENOENT', path, { op })
  if (inode.type !== 'directory') throw new VfsError('ENOTDIR', path, { op })
  if (inode.links === 0) throw new VfsError('ENOENT', path, { op, detail: 'its directory was removed' })
}

/** Reports whether a directory is another, or lies below it. */
export function isBelow(files: VaultFiles, directory: number, ancestor: number): boolean {
  for (let number = directory; number !== ancestor; ) {
    const parent = files.findInode(number)?.parent
    if (parent === undefined || number === ROOT_INODE) return false
    number = parent
  }
  return true
}

/** Removes an inode without a name; one that has a name stays. */
export function release(files: VaultFiles, number: number): void {
  if (files.findInode(number)?.links !== 0) return
  files.tree.delete(toGroup(VAULT_INODE, entryKinds.link), String(number))
  removeInode(files, number)
}

/** Lists unlinked files that are open, or were when a process ended. */
export function listUnlinkedInodes(files: VaultFiles): number[] {
  return Array.from(files.tree.iterateGroup(toGroup(VAULT_INODE, entryKinds.link)), ({ sub }) => Number(sub))
}

/** Gives a file another name in place of one that it has. */
export function move(files: VaultFiles, from: Dentry, number: number, to: Dentry, moment: Moment): void {
  const inode = files.getInode(number)
  removeEntry(files, from, inode.type, moment)
  if (inode.parent === from.parent && inode.name === from.name) {
    files.setInode(number, { ...inode, ...to, ctime: moment.time })
  } else {
    files.tree.delete(toGroup(number, entryKinds.link), formatLinkKey(from))
    files.tree.set(toGroup(number, entryKinds.link), formatLinkKey(to), new Uint8Array(0))
    files.setInode(number, { ...inode, ctime: moment.time })
  }
  setEntry(files, to, number, inode.type, moment)
}

/** Throws EEXIST, ENOTDIR, EISDIR or ENOTEMPTY for a rename onto an entry that it may not replace. */
export function assertReplaceable(
  files: VaultFiles,
  { type: from }: Inode,
  target: number,
  path: string,
  overwrite: boolean,
): void {
  if (!overwrite) throw new VfsError('EEXIST', path, { op: 'rename' })
  const to = files.getInode(target).type
  if (to !== 'directory' && from === 'directory') throw new VfsError('ENOTDIR', path, { op: 'rename' })
  if (to === 'directory' && from !== 'directory') throw new VfsError('EISDIR', path, { op: 'rename' })
  if (to === 'directory' && files.hasEntries(target)) throw new VfsError('ENOTEMPTY', path, { op: 'rename' })
}

/** Lists every name of a file. */
export function listDentries(files: VaultFiles, number: number, inode: Inode): Dentry[] {
  const first = inode.links === 0 ? [] : [{ parent: inode.parent, name: inode.name }]
  if (inode.links < 2) return first
  const others = files.tree.iterateGroup(toGroup(number, entryKinds.link))
  return [...first, ...Array.from(others, ({ sub }) => parseLinkKey(String(sub)))]
}

function setEntry(
  files: VaultFiles,
  { parent, name }: Dentry,
  inode: number,
  type: Inode['type'],
  moment: Moment,
): void {
  files.tree.set(toGroup(parent, entryKinds.entry), name, { inode, type })
  files.touch(parent, moment, type === 'directory' ? 1 : 0)
}

function removeEntry(files: VaultFiles, { parent, name }: Dentry, type: Inode['type'], moment: Moment): void {
  files.tree.delete(toGroup(parent, entryKinds.entry), name)
  files.touch(parent, moment, type === 'directory' ? -1 : 0)
}

/** Removes one of several names; if the inode records it as its first name, another replaces it there. */
function removeName(files: VaultFiles, number: number, inode: Inode, dentry: Dentry, { time }: Moment): void {
  const group = toGroup(number, entryKinds.link)
  const isFirst = inode.parent === dentry.parent && inode.name === dentry.name
  const [nextDentry] = isFirst ? listDentries(files, number, inode).slice(1) : [undefined]
  files.tree.delete(group, formatLinkKey(nextDentry ?? dentry))
  files.setInode(number, { ...inode, ...nextDentry, links: inode.links - 1, ctime: time })
}

/** Removes a directory with everything below it. */
function removeDirectory(files: VaultFiles, directory: number, moment: Moment): void {
  const pending = [directory]
  for (let parent = pending.pop(); parent !== undefined; parent = pending.pop()) {
    for (const { name, inode: number, type } of [...files.listEntries(parent)]) {
      if (type === 'directory') {
        pending.push(number)
        continue
      }
      const inode = files.getInode(number)
      const dentry = { parent, name }
      if (inode.links > 1) removeName(files, number, inode, dentry, moment)
      else removeInode(files, number)
    }
    removeInode(files, parent)
  }
}

/** Removes an inode with all its entries. */
function removeInode(files: VaultFiles, number: number): void {
  const { type, size } = files.getInode(number)
  const { tree } = files
  const [first, end] = toGroupRange(number)
  const tags = toGroup(number, entryKinds.tag)
  for (const { group, sub } of tree.listGroups(first, end)) {
    if (group === tags) tree.delete(toGroup(VAULT_INODE, entryKinds.tag), `${sub}\0${number}`)
    tree.delete(group, sub)
  }
  if (type === 'directory') return
  const counters = files.getCounters()
  files.setCounters({
    ...counters,
    files: counters.files - 1,
    bytes: counters.bytes - (type === 'file' ? size : 0),
    symlinks: counters.symlinks - (type === 'symlink' ? 1 : 0),
  })
}

function formatLinkKey({ parent, name }: Dentry): string {
  return `${parent}:${name}`
}

function parseLinkKey(key: string): Dentry {
  const colon = key.indexOf(':')
  return { parent: Number(key.slice(0, colon)), name: key.slice(colon + 1) }
}
