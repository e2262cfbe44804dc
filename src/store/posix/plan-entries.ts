import { child, type FileType, VfsError } from '../../vfs/index.ts'
import { createCalls } from '../files/apply-inode.ts'
import { assertDirectory } from '../files/directory-entries.ts'
import type { FileOperation } from '../files/operation.ts'
import type { VaultFiles } from '../files/vault-files.ts'
import type { DirectoryEntry, Inode } from '../tree/tree-values.ts'
import { assertName, assertSymlinkTarget } from './assert-names.ts'
import { applySetGroupId, type CreationAttributes, fileTypeBits } from './posix-attributes.ts'

/** Effect of a rename on an existing target: replace it, refuse, or exchange both. */
export type RenameMode = 'replace' | 'noreplace' | 'exchange'

/** A name in a directory. */
type DentryTuple = readonly [parent: number, name: string]

/** Reports whether an inode is open in this process. */
type IsOpen = (ino: number) => boolean

const SYMLINK_PERMISSIONS = 0o777
/** No valid name has a slash, so no entry has this one. */
const TEMPORARY_NAME = '/'

/** Returns an inode by a number from outside. Throws ENOENT if there is none of this number. */
export function requireInode(files: VaultFiles, ino: number, op: string): Inode {
  const inode = files.findInode(ino)
  if (inode === undefined) throw new VfsError('ENOENT', `inode ${ino}`, { op })
  return inode
}

/** Returns the path of an inode for the journal. One without a name gets a path that no other inode can have. */
export function getJournalPath(files: VaultFiles, ino: number, { links }: Inode): string {
  return links === 0 ? formatDeletedPath(ino) : files.getPath(ino)
}

/** The empty name after the first slash keeps it apart from every path. Earlier versions wrote `/(deleted) 2`. */
function formatDeletedPath(ino: number): string {
  return `//(deleted) ${ino}`
}

export function planCreate(
  files: VaultFiles,
  [parent, name]: DentryTuple,
  type: FileType,
  attributes: CreationAttributes,
  text?: string,
): FileOperation {
  const op = createCalls[type]
  assertName(name, op)
  const directory = getDirectory(files, parent, name, op)
  const path = child(getJournalPath(files, parent, directory), name)
  const inherited = applySetGroupId(directory, attributes, type)
  return { op: 'create', path, parent, name, type, ...inherited, ...(text !== undefined && { text }) }
}

export function planSymlink(
  files: VaultFiles,
  dentry: DentryTuple,
  target: string,
  attributes: Omit<CreationAttributes, 'mode'>,
): FileOperation {
  assertSymlinkTarget(target, 'symlink')
  return planCreate(files, dentry, 'symlink', { ...attributes, mode: SYMLINK_PERMISSIONS }, target)
}

/**
 * Plans a file, pipe, socket or device, by the file type in the mode. Throws EPERM for a directory, EINVAL for a link and
 * for a type that does not exist.
 */
export function planNode(
  files: VaultFiles,
  dentry: DentryTuple,
  attributes: CreationAttributes,
  rdev: number,
): FileOperation {
  const format = attributes.mode & fileTypeBits.mask
  switch (format) {
    case 0:
    case fileTypeBits.file:
      // Checked here: the operation would report a failed `create`.
      if (findEntry(files, ...dentry, 'mknod') !== undefined)
        throw new VfsError('EEXIST', getEntryPath(files, dentry, 'mknod'), { op: 'mknod' })
      return planCreate(files, dentry, 'file', { ...attributes, mode: attributes.mode & ~fileTypeBits.mask })
    case fileTypeBits.fifo:
    case fileTypeBits.socket:
      return planCreate(files, dentry, 'other', attributes, '0')
    case fileTypeBits.character:
    case fileTypeBits.block:
      return planCreate(files, dentry, 'other', attributes, String(rdev))
    default: {
      const code = format === fileTypeBits.directory ? 'EPERM' : 'EINVAL'
      throw new VfsError(code, dentry[1], { op: 'mknod' })
    }
  }
}

/** Plans a file without a name: one batch creates it under an impossible name and unlinks it. */
export function planTmpfile(
  files: VaultFiles,
  parent: number,
  attributes: CreationAttributes,
): FileOperation {
  const directory = getDirectory(files, parent, '', 'create')
  const [path, name] = [formatDeletedPath(files.getCounters().nextInode), TEMPORARY_NAME]
  const inherited = applySetGroupId(directory, attributes, 'file')
  return {
    op: 'batch',
    path,
    operations: [
      { op: 'create', path, parent, name, type: 'file', ...inherited },
      { op: 'unlink', path, parent, name, keep: true },
    ],
  }
}

export function planLink(files: VaultFiles, inode: number, [parent, name]: DentryTuple): FileOperation {
  assertName(name, 'link')
  const from = getJournalPath(files, inode, requireInode(files, inode, 'link'))
  return { op: 'link', path: getEntryPath(files, [parent, name], 'link'), from, inode, parent, name }
}

export function planUnlink(files: VaultFiles, [parent, name]: DentryTuple, isOpen: IsOpen): FileOperation {
  const { inode, type } = getEntry(files, [parent, name], 'unlink')
  const path = getEntryPath(files, [parent, name], 'unlink')
  if (type === 'directory') throw new VfsError('EISDIR', path, { op: 'unlink' })
  return { op: 'unlink', path, parent, name, keep: isOpen(inode) }
}

export function planRmdir(files: VaultFiles, [parent, name]: DentryTuple, isOpen: IsOpen): FileOperation {
  const { inode, type } = getEntry(files, [parent, name], 'rmdir')
  const path = getEntryPath(files, [parent, name], 'rmdir')
  if (type !== 'directory') throw new VfsError('ENOTDIR', path, { op: 'rmdir' })
  return { op: 'unlink', path, parent, name, keep: isOpen(inode) }
}

/** Plans the removal of an inode that has no name and is no longer open. */
export function planRelease(inode: number): FileOperation {
  return { op: 'release', path: formatDeletedPath(inode), inode }
}

/** Plans a rename; null if both are names of one file, as POSIX has it. */
export function planRename(
  files: VaultFiles,
  from: DentryTuple,
  target: DentryTuple,
  mode: RenameMode,
  isOpen: IsOpen,
): FileOperation | null {
  const { inode } = getEntry(files, from, 'rename')
  assertName(target[1], 'rename')
  const existing = files.findEntry(...target)?.inode
  if (existing === inode && mode !== 'noreplace') return null
  return {
    op: 'move',
    path: getEntryPath(files, from, 'rename'),
    to: getEntryPath(files, target, 'rename'),
    from,
    target,
    mode: mode === 'noreplace' ? 'refuse' : mode,
    keep: existing !== undefined && isOpen(existing),
  }
}

/** Returns the entry of a name, or undefined. Throws ENOENT or ENOTDIR for the directory, and for an invalid name. */
export function findEntry(
  files: VaultFiles,
  parent: number,
  name: string,
  op: string,
): DirectoryEntry | undefined {
  const entry = files.findEntry(parent, name)
  if (entry !== undefined) return entry
  // An entry that exists has a valid name and parent.
  assertName(name, op)
  getDirectory(files, parent, name, op)
  return undefined
}

function getEntry(files: VaultFiles, [parent, name]: DentryTuple, op: string): DirectoryEntry {
  const entry = findEntry(files, parent, name, op)
  if (entry === undefined) throw new VfsError('ENOENT', getEntryPath(files, [parent, name], op), { op })
  return entry
}

/** Returns the path of a name for the journal. */
function getEntryPath(files: VaultFiles, [parent, name]: DentryTuple, op: string): string {
  return child(getJournalPath(files, parent, getDirectory(files, parent, name, op)), name)
}

function getDirectory(files: VaultFiles, parent: number, name: string, op: string): Inode {
  assertDirectory(files, parent, name, op)
  return files.getInode(parent)
}
