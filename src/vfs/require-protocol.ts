import { VfsError } from './error.ts'
import type { FileSystem } from './file-system.ts'

/** Reason of ENOTSUP for an operation, with what to do instead. */
const REASONS: Readonly<Record<string, string>> = {
  symlink: 'this file system has no symbolic links; copy the file instead',
  readlink: 'this file system has no symbolic links',
  link: 'this file system has no hard links; copy the file instead',
  identity: 'this file system has no inode numbers; compare paths instead',
  setattr: 'this file system cannot change modes or times',
  open: 'this file system cannot open files; read and write whole files instead',
  mkdir: 'this file system has no empty directories; write a file, which creates its directories',
  fork: 'this file system cannot fork; put an OverlayFs over it and fork that',
}

/** Returns the ENOTSUP error of an operation. */
export function createUnsupportedError(op: string, path: string): VfsError {
  const detail = REASONS[op] ?? `this file system does not support '${op}'`
  return new VfsError('ENOTSUP', path, { op, detail })
}

/** Returns the file system if it has a protocol. Throws ENOTSUP otherwise. */
export function requireProtocol<Protocol>(
  fs: FileSystem,
  is: (fs: FileSystem) => fs is FileSystem & Protocol,
  op: string,
  path: string,
): FileSystem & Protocol {
  if (is(fs)) return fs
  throw createUnsupportedError(op, path)
}
