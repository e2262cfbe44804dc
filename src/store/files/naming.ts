import { basename, dirname, VfsError } from '../../vfs/index.ts'
import { groupOf, groupsOf, kinds } from '../tree/key.ts'
import type { Inode } from '../tree/records.ts'
import { emptyDirectory, type Files, type Moment, type NewInode, ROOT_INODE, VAULT_INODE } from './files.ts'

/** A name in a directory. */
export interface Place {
  readonly parent: number
  readonly name: string
}

/** The place a path names. Its directory must be there. */
export function placeOf(files: Files, path: string, op: string): Place {
  const parent = files.find(dirname(path))
  if (parent === undefined) throw new VfsError('ENOENT', path, { op })
  return { parent, name: basename(path) }
}

/** The directory a path is in, made with all above it if `parents`. ENOENT, ENOTDIR. */
export function parentOf(files: Files, path: string, parents: boolean, op: string, moment: Moment): number {
  let number = ROOT_INODE
  for (let start = 1, slash = path.indexOf('/', start); slash !== -1; slash = path.indexOf('/', start)) {
    const name = path.slice(start, slash)
    const entry = files.entry(number, name)
    if (entry === undefined && !parents) throw new VfsError('ENOENT', path, { op })
    if (entry !== undefined && entry.type !== 'directory') throw new VfsError('ENOTDIR', path, { op })
    number = entry?.inode ?? make(files, { parent: number, name }, emptyDirectory(), moment)
    start = slash + 1
  }
  return number
}

/** Makes something new under a name. */
export function make(files: Files, place: Place, fields: NewInode, { time, seq }: Moment): number {
  const counters = files.counters()
  const { nextInode: number } = counters
  const { type, size } = fields
  files.setCounters({
    nextInode: number + 1,
    files: counters.files + (type === 'directory' ? 0 : 1),
    bytes: counters.bytes + (type === 'file' ? size : 0),
    symlinks: counters.symlinks + (type === 'symlink' ? 1 : 0),
  })
  const times = { atime: time, mtime: time, ctime: time }
  files.setInode(number, { uid: 0, gid: 0, ...times, ...fields, ...place, links: 1, version: seq })
  setEntry(files, place, number, type, { time, seq })
  return number
}

/** Gives a file one more name. */
export function link(files: Files, number: number, place: Place, moment: Moment): void {
  const inode = files.inode(number)
  if (inode.links === 0) {
    files.tree.delete(groupOf(VAULT_INODE, kinds.link), String(number))
    files.setInode(number, { ...inode, ...place, links: 1, ctime: moment.time })
  } else {
    files.tree.set(groupOf(number, kinds.link), linkKey(place), new Uint8Array(0))
    files.setInode(number, { ...inode, links: inode.links + 1, ctime: moment.time })
  }
  setEntry(files, place, number, inode.type, moment)
}

/**
 * Takes a name out of its directory, and what it named with all below it if that was the last one.
 * `keep`: a file or an empty directory stays as it is, without a name, until it is released: somebody has it open.
 */
export function unlink(files: Files, place: Place, number: number, moment: Moment, keep = false): void {
  const inode = files.inode(number)
  dropEntry(files, place, moment)
  if (inode.links > 1) dropName(files, number, inode, place, moment)
  else if (inode.type === 'directory' && !(keep && !files.hasEntries(number)))
    removeBelow(files, number, moment)
  else if (!keep) remove(files, number)
  else {
    files.tree.set(groupOf(VAULT_INODE, kinds.link), String(number), new Uint8Array(0))
    files.setInode(number, { ...inode, links: 0, ctime: moment.time })
  }
}

/** Refuses a directory that is not there, is none, or was removed while it was open. ENOENT, ENOTDIR. */
export function assertDirectory(files: Files, number: number, path: string, op: string): void {
  const inode = files.inodeIfPresent(number)
  if (inode === undefined) throw new VfsError('ENOENT', path, { op })
  if (inode.type !== 'directory') throw new VfsError('ENOTDIR', path, { op })
  if (inode.links === 0) throw new VfsError('ENOENT', path, { op, detail: 'its directory was removed' })
}

/** Whether a directory is another, or lies below it. */
export function isBelow(files: Files, directory: number, ancestor: number): boolean {
  for (let at = directory; at !== ancestor; ) {
    const parent = files.inodeIfPresent(at)?.parent
    if (parent === undefined || at === ROOT_INODE) return false
    at = parent
  }
  return true
}

/** Removes a file that has no name any more. */
export function release(files: Files, number: number): void {
  if (files.inodeIfPresent(number)?.links !== 0) return
  files.tree.delete(groupOf(VAULT_INODE, kinds.link), String(number))
  remove(files, number)
}

/** Files without a name that were open when a process ended, or still are. */
export function nameless(files: Files): number[] {
  return Array.from(files.tree.inGroup(groupOf(VAULT_INODE, kinds.link)), ({ sub }) => Number(sub))
}

export function move(files: Files, from: Place, number: number, to: Place, moment: Moment): void {
  const inode = files.inode(number)
  dropEntry(files, from, moment)
  if (inode.parent === from.parent && inode.name === from.name) {
    files.setInode(number, { ...inode, ...to, ctime: moment.time })
  } else {
    files.tree.delete(groupOf(number, kinds.link), linkKey(from))
    files.tree.set(groupOf(number, kinds.link), linkKey(to), new Uint8Array(0))
    files.setInode(number, { ...inode, ctime: moment.time })
  }
  setEntry(files, to, number, inode.type, moment)
}

/** Refuses a move onto something that may not give way to it. */
export function assertReplaceable(
  files: Files,
  { type: from }: Inode,
  target: number,
  path: string,
  overwrite: boolean,
): void {
  if (!overwrite) throw new VfsError('EEXIST', path, { op: 'rename' })
  const to = files.inode(target).type
  if (to !== 'directory' && from === 'directory') throw new VfsError('ENOTDIR', path, { op: 'rename' })
  if (to === 'directory' && from !== 'directory') throw new VfsError('EISDIR', path, { op: 'rename' })
  if (to === 'directory' && files.hasEntries(target)) throw new VfsError('ENOTEMPTY', path, { op: 'rename' })
}

/** Every name of a file. */
export function namesOf(files: Files, number: number, inode: Inode): Place[] {
  const first = inode.links === 0 ? [] : [{ parent: inode.parent, name: inode.name }]
  if (inode.links < 2) return first
  const others = files.tree.inGroup(groupOf(number, kinds.link))
  return [...first, ...Array.from(others, ({ sub }) => placeFrom(String(sub)))]
}

function setEntry(
  files: Files,
  { parent, name }: Place,
  inode: number,
  type: Inode['type'],
  moment: Moment,
): void {
  files.tree.set(groupOf(parent, kinds.entry), name, { inode, type })
  files.touch(parent, moment)
}

function dropEntry(files: Files, { parent, name }: Place, moment: Moment): void {
  files.tree.delete(groupOf(parent, kinds.entry), name)
  files.touch(parent, moment)
}

/** One of several names goes; if it was the one in the inode, another takes its place there. */
function dropName(files: Files, number: number, inode: Inode, place: Place, { time }: Moment): void {
  const group = groupOf(number, kinds.link)
  const isFirst = inode.parent === place.parent && inode.name === place.name
  const [other] = isFirst ? namesOf(files, number, inode).slice(1) : [undefined]
  files.tree.delete(group, linkKey(other ?? place))
  files.setInode(number, { ...inode, ...other, links: inode.links - 1, ctime: time })
}

function removeBelow(files: Files, directory: number, moment: Moment): void {
  const pending = [directory]
  for (let at = pending.pop(); at !== undefined; at = pending.pop()) {
    for (const { name, inode: number, type } of [...files.entries(at)]) {
      if (type === 'directory') {
        pending.push(number)
        continue
      }
      const inode = files.inode(number)
      const place = { parent: at, name }
      if (inode.links > 1) dropName(files, number, inode, place, moment)
      else remove(files, number)
    }
    remove(files, at)
  }
}

/** Takes an inode away with everything that hangs on it. */
function remove(files: Files, number: number): void {
  const { type, size } = files.inode(number)
  const { tree } = files
  const [first, end] = groupsOf(number)
  const tags = groupOf(number, kinds.tag)
  for (const { group, sub } of [...tree.inGroups(first, end)]) {
    if (group === tags) tree.delete(groupOf(VAULT_INODE, kinds.tag), `${sub}\0${number}`)
    tree.delete(group, sub)
  }
  if (type === 'directory') return
  const counters = files.counters()
  files.setCounters({
    ...counters,
    files: counters.files - 1,
    bytes: counters.bytes - (type === 'file' ? size : 0),
    symlinks: counters.symlinks - (type === 'symlink' ? 1 : 0),
  })
}

function linkKey({ parent, name }: Place): string {
  return `${parent}:${name}`
}

function placeFrom(key: string): Place {
  const colon = key.indexOf(':')
  return { parent: Number(key.slice(0, colon)), name: key.slice(colon + 1) }
}
