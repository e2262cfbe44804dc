import { type FileType, VfsError } from '../../vfs/index.ts'
import { type BlobRef, CHUNK_BYTES, encodeOwnBytes, type Inode } from '../tree/tree-values.ts'
import { setXattr } from './attachments.ts'
import {
  assertDirectory,
  assertReplaceable,
  createInode,
  type Dentry,
  isBelow,
  link,
  move,
  release,
  unlink,
} from './directory-entries.ts'
import {
  createChangeFields,
  findFileVersion,
  replaceInode,
  toContentRef,
  withAttributes,
} from './inode-change.ts'
import type { InodeOperation, ReplacedVersion } from './operation.ts'
import { createDirectoryFields, type Moment, type NewInode, type VaultFiles } from './vault-files.ts'

/** Applies an operation that names inodes instead of paths, and returns the file version it replaced. */
export function applyInodeOperation(
  files: VaultFiles,
  operation: InodeOperation,
  moment: Moment,
): ReplacedVersion {
  switch (operation.op) {
    case 'create':
      return create(files, operation, moment)
    case 'link':
      return linkAt(files, operation, moment)
    case 'unlink':
      return unlinkAt(files, operation, moment)
    case 'release':
      release(files, operation.inode)
      return null
    case 'move':
      return moveTo(files, operation, moment)
    case 'patch':
      return patch(files, operation, moment)
    case 'attributes':
      return setAttributes(files, operation, moment)
    case 'xattr':
      files.setInode(operation.inode, { ...files.getInode(operation.inode), ctime: moment.time })
      return setXattr(files, operation.inode, operation.name, operation.value)
    default:
      return throwUnknownOperation(operation)
  }
}

/** The call that creates an entry of a type, for errors. */
export const createCalls: Readonly<Record<FileType, string>> = {
  file: 'create',
  directory: 'mkdir',
  symlink: 'symlink',
  other: 'mknod',
}

type OperationOf<Op extends InodeOperation['op']> = Extract<InodeOperation, { readonly op: Op }>

function create(files: VaultFiles, operation: OperationOf<'create'>, moment: Moment): null {
  const { path, parent, name, mode, uid, gid, content, atime, mtime } = operation
  assertFree(files, operation, path, createCalls[operation.type])
  const times = { ...(atime !== undefined && { atime }), ...(mtime !== undefined && { mtime }) }
  const fields = { ...createFields(operation), mode, uid, gid, ...times }
  const number = createInode(files, { parent, name }, fields, moment)
  if (fields.content === 'chunks') files.setChunks(number, 0, content?.chunks ?? [])
  return null
}

function createFields({ type, mode, content, text = '' }: OperationOf<'create'>): NewInode {
  if (type === 'directory') return createDirectoryFields(mode)
  if (content !== undefined) return { type, mode, size: content.size, content: toContentRef(content) }
  const bytes = encodeOwnBytes(text)
  return { type, mode, size: type === 'symlink' ? bytes.length : 0, content: bytes }
}

function linkAt(files: VaultFiles, { path, inode, parent, name }: OperationOf<'link'>, moment: Moment): null {
  assertFree(files, { parent, name }, path, 'link')
  if (files.getInode(inode).type === 'directory') throw new VfsError('EPERM', path, { op: 'link' })
  link(files, inode, { parent, name }, moment)
  return null
}

function unlinkAt(
  files: VaultFiles,
  { path, parent, name, keep }: OperationOf<'unlink'>,
  moment: Moment,
): ReplacedVersion {
  const number = getInodeAt(files, { parent, name }, path, 'unlink')
  const { type } = files.getInode(number)
  if (type === 'directory' && files.hasEntries(number)) throw new VfsError('ENOTEMPTY', path, { op: 'rmdir' })
  const removed = findFileVersion(files, number)
  unlink(files, { parent, name }, number, moment, keep)
  return removed
}

function moveTo(files: VaultFiles, operation: OperationOf<'move'>, moment: Moment): ReplacedVersion {
  const { path, mode, keep } = operation
  const [from, target] = [toDentry(operation.from), toDentry(operation.target)]
  const number = getInodeAt(files, from, path, 'rename')
  const existing = files.findEntry(target.parent, target.name)?.inode
  assertMovable(files, operation, number, existing)
  // Two names of one file: a rename changes nothing.
  if (existing === number) return null
  if (existing !== undefined && mode === 'exchange') {
    exchange(files, [from, number], [target, existing], moment)
    return null
  }
  if (existing === undefined) {
    move(files, from, number, target, moment)
    return null
  }
  assertReplaceable(files, files.getInode(number), existing, operation.to, true)
  const replaced = findFileVersion(files, existing)
  unlink(files, target, existing, moment, keep)
  move(files, from, number, target, moment)
  return replaced
}

/**
 * Throws as Linux does, in its order: by the target's directory, EEXIST or ENOENT by mode, EINVAL or ENOTEMPTY if a
 * directory would become its own descendant.
 */
function assertMovable(
  files: VaultFiles,
  { path, to, from: [parent], target: [targetParent], mode }: OperationOf<'move'>,
  number: number,
  existing: number | undefined,
): void {
  assertDirectory(files, targetParent, to, 'rename')
  if (mode === 'refuse' && existing !== undefined) throw new VfsError('EEXIST', to, { op: 'rename' })
  if (mode === 'exchange' && existing === undefined) throw new VfsError('ENOENT', to, { op: 'rename' })
  if (parent === targetParent) return
  if (files.getInode(number).type === 'directory' && isBelow(files, targetParent, number)) {
    throw new VfsError('EINVAL', path, { op: 'rename', detail: `'${to}' lies inside it` })
  }
  if (
    existing !== undefined &&
    files.getInode(existing).type === 'directory' &&
    isBelow(files, parent, existing)
  ) {
    const code = mode === 'exchange' ? 'EINVAL' : 'ENOTEMPTY'
    throw new VfsError(code, to, { op: 'rename', detail: `'${path}' lies inside it` })
  }
}

type DentryInode = readonly [dentry: Dentry, inode: number]

/** Exchanges the targets of two names. */
function exchange(
  files: VaultFiles,
  [from, number]: DentryInode,
  [target, existing]: DentryInode,
  moment: Moment,
): void {
  // No name contains a slash, so this one is free.
  const temporary = { parent: from.parent, name: '/' }
  move(files, from, number, temporary, moment)
  move(files, target, existing, from, moment)
  move(files, temporary, number, target, moment)
}

function patch(
  files: VaultFiles,
  { inode: number, size, inline, chunks }: OperationOf<'patch'>,
  moment: Moment,
): ReplacedVersion {
  const inode = files.getInode(number)
  const content =
    inline === undefined
      ? (findSingleChunk(files, number, inode, size, chunks) ?? 'chunks')
      : encodeOwnBytes(inline, 'base64')
  if (content === 'chunks') patchChunks(files, number, inode, size, chunks)
  else if (inode.content === 'chunks') files.removeChunks(number)
  replaceInode(files, number, inode, { ...inode, size, content, ...createChangeFields(moment) })
  return inode.version
}

/** Returns the only blob of a patched file, if it has no more: that needs no chunk entry. */
function findSingleChunk(
  files: VaultFiles,
  number: number,
  { content }: Inode,
  size: number,
  chunks: OperationOf<'patch'>['chunks'],
): BlobRef | undefined {
  if (size > CHUNK_BYTES) return undefined
  const change = chunks.find(([index]) => index === 0)
  const before = content === 'chunks' ? files.findChunk(number, 0) : content
  const ref = change === undefined ? before : change[1]
  return ref !== undefined && ref !== null && 'blob' in ref && ref.size === size ? ref : undefined
}

function patchChunks(
  files: VaultFiles,
  number: number,
  inode: Inode,
  size: number,
  chunks: OperationOf<'patch'>['chunks'],
): void {
  if (inode.content !== 'chunks') {
    // Old chunks must not show through its holes.
    files.removeChunks(number)
    if (!(inode.content instanceof Uint8Array)) files.setChunks(number, 0, [inode.content])
  }
  for (const [index, chunk] of chunks) {
    if (chunk === null) files.removeChunk(number, index)
    else files.setChunks(number, index, [chunk])
  }
  if (size < inode.size) files.removeChunks(number, Math.ceil(size / CHUNK_BYTES))
}

function setAttributes(files: VaultFiles, operation: OperationOf<'attributes'>, { time }: Moment): null {
  const { inode } = operation
  files.setInode(inode, withAttributes(files.getInode(inode), operation, time))
  return null
}

function getInodeAt(files: VaultFiles, { parent, name }: Dentry, path: string, op: string): number {
  const entry = files.findEntry(parent, name)
  if (entry !== undefined) return entry.inode
  assertDirectory(files, parent, path, op)
  throw new VfsError('ENOENT', path, { op })
}

function assertFree(files: VaultFiles, { parent, name }: Dentry, path: string, op: string): void {
  assertDirectory(files, parent, path, op)
  if (files.findEntry(parent, name) !== undefined) throw new VfsError('EEXIST', path, { op })
}

function toDentry([parent, name]: readonly [number, string]): Dentry {
  return { parent, name }
}

/** Refuses an operation of a later version: a missing file is better than a wrong one. */
function throwUnknownOperation(operation: never): never {
  const { op } = operation
  throw new VfsError('ENOTSUP', '/', { detail: `the journal has an operation '${op}'; update coppice` })
}
