import { basename, isWithin, VfsError } from '../../vfs/index.ts'
import { encodeOwnBytes } from '../tree/tree-values.ts'
import { applyInodeOperation } from './apply-inode.ts'
import { setMergePoint, setMeta, setTags } from './attachments.ts'
import { assertReplaceable, createInode, ensureParent, getDentry, move, unlink } from './directory-entries.ts'
import { createChangeFields, findFileVersion, replaceInode, toContentRef } from './inode-change.ts'
import type { FileOperation, PathOperation, ReplacedVersion } from './operation.ts'
import {
  createDirectoryFields,
  type Moment,
  type NewInode,
  ROOT_INODE,
  type VaultFiles,
} from './vault-files.ts'

const FILE_MODE = 0o644
const SYMLINK_MODE = 0o777

/**
 * Applies one operation to a tree of files, and returns the file version it replaced. Deterministic, so that a
 * journal can be replayed.
 * If it throws, the caller resets the tree.
 */
export function applyOperation(files: VaultFiles, operation: FileOperation, moment: Moment): ReplacedVersion {
  switch (operation.op) {
    case 'write':
      return write(files, operation, moment)
    case 'revert':
      return write(files, { ...operation, op: 'write', parents: true }, moment)
    case 'extend':
      return extend(files, operation, moment)
    case 'mkdir':
      return mkdir(files, operation, moment)
    case 'remove':
      return remove(files, operation, moment)
    case 'rename':
      return rename(files, operation, moment)
    case 'symlink':
      return symlink(files, operation, moment)
    case 'tag':
      return setTags(files, getInodeAt(files, operation.path, 'tag'), operation)
    case 'meta':
      return setMeta(files, getInodeAt(files, operation.path, 'meta'), operation.values)
    case 'restore':
      files.tree.reset(operation.root)
      return null
    case 'quota':
    case 'delete':
      return null
    case 'batch':
      return operation.operations.map((step) => applyOperation(files, step, moment))
    case 'merge': {
      const replaced = operation.operations.map((step) => applyOperation(files, step, moment))
      const time = moment.time.seconds * 1000 + moment.time.nanos / 1e6
      const { source, root, seq } = operation
      setMergePoint(files, source, { root, time, ...(seq !== undefined && { seq }) })
      return replaced
    }
    default:
      return applyInodeOperation(files, operation, moment)
  }
}

type OperationOf<Op extends PathOperation['op']> = Extract<PathOperation, { readonly op: Op }>

function write(
  files: VaultFiles,
  { path, content, parents, mode, mtime }: OperationOf<'write'>,
  moment: Moment,
): ReplacedVersion {
  const resolved = files.resolveLinks(path, true, 'write')
  if (resolved === '/') throw new VfsError('EISDIR', path, { op: 'write' })
  // Creates nothing if the file exists, since its directories then do.
  const dentry = { parent: ensureParent(files, resolved, parents, 'write', moment), name: basename(resolved) }
  const number = files.findEntry(dentry.parent, dentry.name)?.inode
  const reference = toContentRef(content)
  if (number === undefined) {
    const fields = { type: 'file', mode: mode ?? FILE_MODE, size: content.size, content: reference } as const
    const timedFields = mtime === undefined ? fields : { ...fields, mtime }
    const created = createInode(files, dentry, timedFields, moment)
    if (reference === 'chunks') files.setChunks(created, 0, content.chunks ?? [])
    return null
  }
  const inode = files.getInode(number)
  if (inode.type === 'directory') throw new VfsError('EISDIR', path, { op: 'write' })
  if (inode.content === 'chunks') files.removeChunks(number)
  replaceInode(files, number, inode, {
    ...inode,
    mode: mode ?? inode.mode,
    size: content.size,
    mtime: mtime ?? moment.time,
    ctime: moment.time,
    version: moment.seq,
    content: reference,
  })
  if (reference === 'chunks') files.setChunks(number, 0, content.chunks ?? [])
  return inode.version
}

function extend(
  files: VaultFiles,
  { path, size, kept, chunks }: OperationOf<'extend'>,
  moment: Moment,
): ReplacedVersion {
  const number = getInodeFollowingLinks(files, path, 'append')
  const inode = files.getInode(number)
  if (inode.type === 'directory') throw new VfsError('EISDIR', path, { op: 'append' })
  const next = { ...inode, size, ...createChangeFields(moment) }
  if (chunks.length === 0) {
    replaceInode(files, number, inode, next)
    return inode.version
  }
  const [only] = chunks
  const isSingleChunk = kept === 0 && chunks.length === 1 && only !== undefined && only.size === size
  if (!isSingleChunk && inode.content !== 'chunks' && !(inode.content instanceof Uint8Array) && kept > 0)
    files.setChunks(number, 0, [inode.content])
  files.removeChunks(number, kept)
  if (!isSingleChunk) files.setChunks(number, kept, chunks)
  replaceInode(files, number, inode, { ...next, content: isSingleChunk ? only : 'chunks' })
  return inode.version
}

function mkdir(
  files: VaultFiles,
  { path, parents, mode }: OperationOf<'mkdir'>,
  moment: Moment,
): ReplacedVersion {
  const resolved = files.resolveLinks(path, false, 'mkdir')
  // Creates nothing if the name exists, since its directories then do.
  const dentry = { parent: ensureParent(files, resolved, parents, 'mkdir', moment), name: basename(resolved) }
  const existing = resolved === '/' ? ROOT_INODE : files.findEntry(dentry.parent, dentry.name)?.inode
  if (existing === undefined) createInode(files, dentry, createDirectoryFields(mode), moment)
  else if (!(parents && isDirectory(files, files.findByPath(files.resolveLinks(path, true, 'mkdir')))))
    throw new VfsError('EEXIST', path, { op: 'mkdir' })
  return null
}

function remove(
  files: VaultFiles,
  { path, recursive }: OperationOf<'remove'>,
  moment: Moment,
): ReplacedVersion {
  const number = getInodeAt(files, path, 'remove')
  const { type } = files.getInode(number)
  if (type === 'directory' && !recursive) throw new VfsError('EISDIR', path, { op: 'remove' })
  const removed = findFileVersion(files, number)
  unlink(files, getDentry(files, files.resolveLinks(path, false, 'remove'), 'remove'), number, moment)
  return removed
}

function rename(
  files: VaultFiles,
  { path, to, overwrite }: OperationOf<'rename'>,
  moment: Moment,
): ReplacedVersion {
  const [from, target] = [files.resolveLinks(path, false, 'rename'), files.resolveLinks(to, false, 'rename')]
  const number = getInodeAt(files, path, 'rename')
  if (from === target) return null
  if (isWithin(target, from)) {
    throw new VfsError('EINVAL', path, { op: 'rename', detail: `'${to}' lies inside it` })
  }
  const dentry = { parent: ensureParent(files, target, true, 'rename', moment), name: basename(target) }
  const replaced = target === '/' ? ROOT_INODE : files.findEntry(dentry.parent, dentry.name)?.inode
  if (replaced === undefined) {
    move(files, getDentry(files, from, 'rename'), number, dentry, moment)
    return null
  }
  assertReplaceable(files, files.getInode(number), replaced, to, overwrite)
  if (replaced === number) return null
  const version = findFileVersion(files, replaced)
  unlink(files, dentry, replaced, moment)
  move(files, getDentry(files, from, 'rename'), number, dentry, moment)
  return version
}

function symlink(
  files: VaultFiles,
  { path, target }: OperationOf<'symlink'>,
  moment: Moment,
): ReplacedVersion {
  const resolved = files.resolveLinks(path, false, 'symlink')
  if (files.findByPath(resolved) !== undefined) throw new VfsError('EEXIST', path, { op: 'symlink' })
  const content = encodeOwnBytes(target)
  const fields = { type: 'symlink', mode: SYMLINK_MODE, size: content.length, content } as const
  create(files, resolved, fields, true, 'symlink', moment)
  return null
}

function create(
  files: VaultFiles,
  path: string,
  fields: NewInode,
  parents: boolean,
  op: string,
  moment: Moment,
): number {
  const parent = ensureParent(files, path, parents, op, moment)
  return createInode(files, { parent, name: path.slice(path.lastIndexOf('/') + 1) }, fields, moment)
}

function isDirectory(files: VaultFiles, number: number | undefined): boolean {
  return number !== undefined && files.getInode(number).type === 'directory'
}

/** Returns the inode at a path without following a final link. */
function getInodeAt(files: VaultFiles, path: string, op: string): number {
  return assertFound(files.findByPath(files.resolveLinks(path, false, op)), path, op)
}

/** Returns the inode at a path with links followed. */
function getInodeFollowingLinks(files: VaultFiles, path: string, op: string): number {
  return assertFound(files.findByPath(files.resolveLinks(path, true, op)), path, op)
}

function assertFound(number: number | undefined, path: string, op: string): number {
  if (number === undefined) throw new VfsError('ENOENT', path, { op })
  return number
}
