import { child, type FileType, VfsError } from '../../vfs/index.ts'
import type { Files } from '../files/files.ts'
import { assertDirectory } from '../files/naming.ts'
import type { FileOperation } from '../files/operation.ts'
import type { DirectoryEntry, Inode } from '../tree/records.ts'
import { formats, type Owner, ownerIn } from './attributes.ts'
import { assertName, assertTarget } from './names.ts'

/** What a rename does where something is: takes its place, refuses, or changes places with it. */
export type RenameMode = 'replace' | 'noreplace' | 'exchange'

/** A name in a directory. */
type Place = readonly [parent: number, name: string]

/** Whether somebody has an inode open. */
type IsOpen = (ino: number) => boolean

const LINK_PERMISSIONS = 0o777
/** No name may have a slash, so nobody else has this one. */
const ASIDE = '/'

/** What an inode is. ENOENT. */
export function inodeAt(files: Files, ino: number, op: string): Inode {
  const inode = files.inodeIfPresent(ino)
  if (inode === undefined) throw new VfsError('ENOENT', `inode ${ino}`, { op })
  return inode
}

/** Where the journal says an inode is. One without a name must not be taken for what has its old name now. */
export function placeInJournal(files: Files, ino: number, { links }: Inode): string {
  return links === 0 ? deletedPath(ino) : files.pathOf(ino)
}

function deletedPath(ino: number): string {
  return `/(deleted) ${ino}`
}

export function planCreate(
  files: Files,
  [parent, name]: Place,
  type: FileType,
  owner: Owner,
  text?: string,
): FileOperation {
  assertName(name, 'create')
  const directory = directoryAt(files, parent, name, 'create')
  const path = child(placeInJournal(files, parent, directory), name)
  const made = ownerIn(directory, owner, type)
  return { op: 'create', path, parent, name, type, ...made, ...(text !== undefined && { text }) }
}

export function planSymlink(
  files: Files,
  at: Place,
  target: string,
  owner: Omit<Owner, 'mode'>,
): FileOperation {
  assertTarget(target, 'symlink')
  return planCreate(files, at, 'symlink', { ...owner, mode: LINK_PERMISSIONS }, target)
}

/** A file or a device, as the format in the mode says. EPERM for a directory, EINVAL. */
export function planNode(files: Files, at: Place, owner: Owner, rdev: number): FileOperation {
  const format = owner.mode & formats.mask
  if (format === 0 || format === formats.file) {
    return planCreate(files, at, 'file', { ...owner, mode: owner.mode & ~formats.mask })
  }
  if (format === formats.directory) throw new VfsError('EPERM', at[1], { op: 'mknod' })
  if (format === formats.symlink) throw new VfsError('EINVAL', at[1], { op: 'mknod' })
  const isDevice = format === formats.character || format === formats.block
  return planCreate(files, at, 'other', owner, String(isDevice ? rdev : 0))
}

/** A file that never has a name: made under one that nobody can ask for, and unlinked at once. */
export function planNameless(files: Files, parent: number, owner: Owner): FileOperation {
  const directory = directoryAt(files, parent, '', 'create')
  const [path, name] = [deletedPath(files.counters().nextInode), ASIDE]
  const made = ownerIn(directory, owner, 'file')
  return {
    op: 'batch',
    path,
    operations: [
      { op: 'create', path, parent, name, type: 'file', ...made },
      { op: 'unlink', path, parent, name, keep: true },
    ],
  }
}

export function planLink(files: Files, inode: number, [parent, name]: Place): FileOperation {
  assertName(name, 'link')
  const from = placeInJournal(files, inode, inodeAt(files, inode, 'link'))
  return { op: 'link', path: pathOf(files, [parent, name], 'link'), from, inode, parent, name }
}

export function planUnlink(files: Files, [parent, name]: Place, isOpen: IsOpen): FileOperation {
  const { inode, type } = entryAt(files, [parent, name], 'unlink')
  const path = pathOf(files, [parent, name], 'unlink')
  if (type === 'directory') throw new VfsError('EISDIR', path, { op: 'unlink' })
  return { op: 'unlink', path, parent, name, keep: isOpen(inode) }
}

export function planRmdir(files: Files, [parent, name]: Place, isOpen: IsOpen): FileOperation {
  const { inode, type } = entryAt(files, [parent, name], 'rmdir')
  const path = pathOf(files, [parent, name], 'rmdir')
  if (type !== 'directory') throw new VfsError('ENOTDIR', path, { op: 'rmdir' })
  return { op: 'unlink', path, parent, name, keep: isOpen(inode) }
}

/** What nobody has open any more goes, if it has no name. */
export function planRelease(inode: number): FileOperation {
  return { op: 'release', path: deletedPath(inode), inode }
}

/** Null where both are names of one file: then a rename does nothing. */
export function planRename(
  files: Files,
  from: Place,
  target: Place,
  mode: RenameMode,
  isOpen: IsOpen,
): FileOperation | null {
  const { inode } = entryAt(files, from, 'rename')
  assertName(target[1], 'rename')
  const there = files.entry(...target)?.inode
  if (there === inode && mode !== 'noreplace') return null
  return {
    op: 'move',
    path: pathOf(files, from, 'rename'),
    to: pathOf(files, target, 'rename'),
    from,
    target,
    mode: mode === 'noreplace' ? 'refuse' : mode,
    keep: there !== undefined && isOpen(there),
  }
}

/** What a name leads to; undefined if there is none. ENOENT and ENOTDIR are about the directory. */
export function entryIn(files: Files, parent: number, name: string, op: string): DirectoryEntry | undefined {
  const entry = files.entry(parent, name)
  if (entry !== undefined) return entry
  // Only what is not there needs a second look.
  assertName(name, op)
  directoryAt(files, parent, name, op)
  return undefined
}

function entryAt(files: Files, [parent, name]: Place, op: string): DirectoryEntry {
  const entry = entryIn(files, parent, name, op)
  if (entry === undefined) throw new VfsError('ENOENT', pathOf(files, [parent, name], op), { op })
  return entry
}

function pathOf(files: Files, [parent, name]: Place, op: string): string {
  return child(placeInJournal(files, parent, directoryAt(files, parent, name, op)), name)
}

function directoryAt(files: Files, parent: number, name: string, op: string): Inode {
  assertDirectory(files, parent, name, op)
  return files.inode(parent)
}
