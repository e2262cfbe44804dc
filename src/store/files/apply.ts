import { isWithin, VfsError } from '../../vfs/index.ts'
import { applyInodeOperation } from './apply-inode.ts'
import { setMergePoint, setMeta, setTags } from './attachments.ts'
import { emptyDirectory, type Files, type Moment, type NewInode } from './files.ts'
import { changed, referenceTo, setContent, versionOf } from './inode-change.ts'
import { assertReplaceable, make, move, parentOf, placeOf, unlink } from './naming.ts'
import type { FileOperation, PathOperation, Replaced } from './operation.ts'

const FILE_MODE = 0o644
const LINK_MODE = 0o777

/**
 * Applies one operation to a tree of files, and returns the version of the file it replaced.
 * The same operation on the same tree always gives the same tree, so a journal can be replayed.
 * When it throws, the caller takes the tree back to where it was.
 */
export function applyOperation(files: Files, operation: FileOperation, moment: Moment): Replaced {
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
      return setTags(files, existing(files, operation.path, 'tag'), operation)
    case 'meta':
      return setMeta(files, existing(files, operation.path, 'meta'), operation.values)
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

type Of<Op extends PathOperation['op']> = Extract<PathOperation, { readonly op: Op }>

function write(files: Files, { path, content, parents, mode, mtime }: Of<'write'>, moment: Moment): Replaced {
  const at = files.resolve(path, true, 'write')
  const number = files.find(at)
  const reference = referenceTo(content)
  const given = mtime === undefined ? {} : { mtime }
  if (number === undefined) {
    const fields = { type: 'file', size: content.size, content: reference, ...given } as const
    const made = create(files, at, { ...fields, mode: mode ?? FILE_MODE }, parents, 'write', moment)
    if (reference === 'chunks') files.setChunks(made, 0, content.chunks ?? [])
    return null
  }
  const inode = files.inode(number)
  if (inode.type === 'directory') throw new VfsError('EISDIR', path, { op: 'write' })
  if (inode.content === 'chunks') files.removeChunks(number)
  const next = { ...inode, mode: mode ?? inode.mode, ...changed(moment), ...given }
  setContent(files, number, inode, { ...next, size: content.size, content: reference })
  if (reference === 'chunks') files.setChunks(number, 0, content.chunks ?? [])
  return inode.version
}

function extend(files: Files, { path, size, kept, chunks }: Of<'extend'>, moment: Moment): Replaced {
  const number = followed(files, path, 'append')
  const inode = files.inode(number)
  if (inode.type === 'directory') throw new VfsError('EISDIR', path, { op: 'append' })
  const next = { ...inode, size, ...changed(moment) }
  if (chunks.length === 0) {
    setContent(files, number, inode, next)
    return inode.version
  }
  const [only] = chunks
  const isOne = kept === 0 && chunks.length === 1 && only !== undefined && only.size === size
  if (!isOne && inode.content !== 'chunks' && !(inode.content instanceof Uint8Array) && kept > 0)
    files.setChunks(number, 0, [inode.content])
  files.removeChunks(number, kept)
  if (!isOne) files.setChunks(number, kept, chunks)
  setContent(files, number, inode, { ...next, content: isOne ? only : 'chunks' })
  return inode.version
}

function mkdir(files: Files, { path, parents, mode }: Of<'mkdir'>, moment: Moment): Replaced {
  const at = files.resolve(path, false, 'mkdir')
  if (files.find(at) !== undefined) {
    if (parents && isDirectory(files, files.find(files.resolve(path, true, 'mkdir')))) return null
    throw new VfsError('EEXIST', path, { op: 'mkdir' })
  }
  create(files, at, emptyDirectory(mode), parents, 'mkdir', moment)
  return null
}

function remove(files: Files, { path, recursive }: Of<'remove'>, moment: Moment): Replaced {
  const number = existing(files, path, 'remove')
  const { type } = files.inode(number)
  if (type === 'directory' && !recursive) throw new VfsError('EISDIR', path, { op: 'remove' })
  const removed = versionOf(files, number)
  unlink(files, placeOf(files, files.resolve(path, false, 'remove'), 'remove'), number, moment)
  return removed
}

function rename(files: Files, { path, to, overwrite }: Of<'rename'>, moment: Moment): Replaced {
  const [from, target] = [files.resolve(path, false, 'rename'), files.resolve(to, false, 'rename')]
  const number = existing(files, path, 'rename')
  if (from === target) return null
  if (isWithin(target, from)) {
    throw new VfsError('EINVAL', path, { op: 'rename', detail: `'${to}' lies inside it` })
  }
  const replaced = files.find(target)
  const parent = parentOf(files, target, true, 'rename', moment)
  const place = { parent, name: target.slice(target.lastIndexOf('/') + 1) }
  if (replaced === undefined) {
    move(files, placeOf(files, from, 'rename'), number, place, moment)
    return null
  }
  assertReplaceable(files, files.inode(number), replaced, to, overwrite)
  if (replaced === number) return null
  const version = versionOf(files, replaced)
  unlink(files, place, replaced, moment)
  move(files, placeOf(files, from, 'rename'), number, place, moment)
  return version
}

function symlink(files: Files, { path, target }: Of<'symlink'>, moment: Moment): Replaced {
  const at = files.resolve(path, false, 'symlink')
  if (files.find(at) !== undefined) throw new VfsError('EEXIST', path, { op: 'symlink' })
  const content = Buffer.from(target)
  const fields = { type: 'symlink', mode: LINK_MODE, size: content.length, content } as const
  create(files, at, fields, true, 'symlink', moment)
  return null
}

function create(
  files: Files,
  path: string,
  fields: NewInode,
  parents: boolean,
  op: string,
  moment: Moment,
): number {
  const parent = parentOf(files, path, parents, op, moment)
  return make(files, { parent, name: path.slice(path.lastIndexOf('/') + 1) }, fields, moment)
}

function isDirectory(files: Files, number: number | undefined): boolean {
  return number !== undefined && files.inode(number).type === 'directory'
}

/** What is at a path, itself if it is a link. */
function existing(files: Files, path: string, op: string): number {
  return found(files.find(files.resolve(path, false, op)), path, op)
}

/** What a path leads to. */
function followed(files: Files, path: string, op: string): number {
  return found(files.find(files.resolve(path, true, op)), path, op)
}

function found(number: number | undefined, path: string, op: string): number {
  if (number === undefined) throw new VfsError('ENOENT', path, { op })
  return number
}
