import { isWithin, VfsError } from '../../vfs/index.ts'
import type { BlobRef, ContentRef } from '../tree/records.ts'
import { emptyDirectory, type Files, type Moment } from './files.ts'
import type { FileOperation, StoredContent } from './operation.ts'

const FILE_MODE = 0o644
const LINK_MODE = 0o777

/**
 * Applies one operation to a tree of files. The same operation on the same tree always gives the same tree, so a
 * journal can be replayed. When it throws, the caller takes the tree back to where it was.
 */
export function applyOperation(files: Files, operation: FileOperation, moment: Moment): void {
  if (operation.op === 'write') write(files, operation, moment)
  else if (operation.op === 'extend') extend(files, operation, moment)
  else if (operation.op === 'mkdir') mkdir(files, operation, moment)
  else if (operation.op === 'remove') remove(files, operation, moment)
  else if (operation.op === 'rename') rename(files, operation, moment)
  else if (operation.op === 'symlink') symlink(files, operation, moment)
  else if (operation.op === 'restore') files.tree.reset(operation.root)
  else for (const step of operation.operations) applyOperation(files, step, moment)
}

type Of<Op extends FileOperation['op']> = Extract<FileOperation, { readonly op: Op }>

function write(files: Files, { path, content, parents, mode }: Of<'write'>, moment: Moment): void {
  const at = files.resolve(path, true, 'write')
  const old = files.find(at)
  const fields = { type: 'file', size: content.size, content: referenceTo(content) } as const
  const number = old ?? create(files, at, { ...fields, mode: mode ?? FILE_MODE }, parents, 'write', moment)
  if (old !== undefined) {
    const inode = files.inode(old)
    if (inode.type === 'directory') throw new VfsError('EISDIR', path, { op: 'write' })
    if (inode.content === 'chunks') files.removeChunks(old)
    files.setInode(old, { ...inode, ...fields, mode: mode ?? inode.mode, ...changed(moment) })
  }
  if (fields.content === 'chunks') files.setChunks(number, 0, content.chunks ?? [])
}

function extend(files: Files, { path, size, kept, chunks }: Of<'extend'>, moment: Moment): void {
  const number = existing(files, files.resolve(path, true, 'append'), path, 'append')
  const inode = files.inode(number)
  if (inode.type === 'directory') throw new VfsError('EISDIR', path, { op: 'append' })
  const all = kept + chunks.length
  if (all > 1) {
    if (inode.content !== 'chunks' && !(inode.content instanceof Uint8Array) && kept > 0) {
      files.setChunks(number, 0, [inode.content])
    }
    files.removeChunks(number, kept)
    files.setChunks(number, kept, chunks)
  }
  const [only] = chunks
  const content: ContentRef = all > 1 || only === undefined ? 'chunks' : only
  files.setInode(number, { ...inode, size, content, ...changed(moment) })
}

function mkdir(files: Files, { path, parents, mode }: Of<'mkdir'>, moment: Moment): void {
  const at = files.resolve(path, false, 'mkdir')
  if (files.find(at) !== undefined) {
    const target = files.find(files.resolve(path, true, 'mkdir'))
    const isDirectory = target !== undefined && files.inode(target).type === 'directory'
    if (parents && isDirectory) return
    throw new VfsError('EEXIST', path, { op: 'mkdir' })
  }
  create(files, at, emptyDirectory(mode), parents, 'mkdir', moment)
}

function remove(files: Files, { path, recursive }: Of<'remove'>, moment: Moment): void {
  const at = files.resolve(path, false, 'remove')
  const number = existing(files, at, path, 'remove')
  if (files.inode(number).type === 'directory' && !recursive)
    throw new VfsError('EISDIR', path, { op: 'remove' })
  files.unlink(at, number, moment)
}

function rename(files: Files, { path, to, overwrite }: Of<'rename'>, moment: Moment): void {
  const [from, target] = [files.resolve(path, false, 'rename'), files.resolve(to, false, 'rename')]
  const number = existing(files, from, path, 'rename')
  if (from === target) return
  if (isWithin(target, from)) {
    throw new VfsError('EINVAL', path, { op: 'rename', detail: `'${to}' lies inside it` })
  }
  const replaced = files.find(target)
  if (replaced !== undefined) {
    assertReplaceable(files, number, replaced, to, overwrite)
    files.unlink(target, replaced, moment)
  }
  files.move(from, number, target, moment)
}

function symlink(files: Files, { path, target }: Of<'symlink'>, moment: Moment): void {
  const at = files.resolve(path, false, 'symlink')
  if (files.find(at) !== undefined) throw new VfsError('EEXIST', path, { op: 'symlink' })
  const content = Buffer.from(target)
  create(
    files,
    at,
    { type: 'symlink', mode: LINK_MODE, size: content.length, content },
    true,
    'symlink',
    moment,
  )
}

function create(
  files: Files,
  path: string,
  fields: Parameters<Files['make']>[2],
  parents: boolean,
  op: string,
  moment: Moment,
): number {
  const parent = files.parentOf(path, parents, op, moment)
  return files.make(parent, path.slice(path.lastIndexOf('/') + 1), fields, moment)
}

function existing(files: Files, at: string, path: string, op: string): number {
  const number = files.find(at)
  if (number === undefined) throw new VfsError('ENOENT', path, { op })
  return number
}

function assertReplaceable(
  files: Files,
  source: number,
  target: number,
  path: string,
  overwrite: boolean,
): void {
  if (!overwrite) throw new VfsError('EEXIST', path, { op: 'rename' })
  const [from, to] = [files.inode(source).type, files.inode(target).type]
  if (to !== 'directory' && from === 'directory') throw new VfsError('ENOTDIR', path, { op: 'rename' })
  if (to === 'directory' && from !== 'directory') throw new VfsError('EISDIR', path, { op: 'rename' })
  if (to === 'directory' && files.hasEntries(target)) throw new VfsError('ENOTEMPTY', path, { op: 'rename' })
}

function changed({ time, seq }: Moment): { mtime: Moment['time']; ctime: Moment['time']; version: number } {
  return { mtime: time, ctime: time, version: seq }
}

/** How an inode refers to content: by itself when small, by the blob when there is one, by keys when there are more. */
function referenceTo({ inline, chunks = [] }: StoredContent): ContentRef {
  if (inline !== undefined) return Buffer.from(inline, 'base64')
  const [only]: readonly BlobRef[] = chunks
  return only !== undefined && chunks.length === 1 ? only : 'chunks'
}
