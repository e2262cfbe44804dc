import { VfsError } from '../../vfs/index.ts'
import { findXattr } from '../files/attachments.ts'
import type { FileOperation } from '../files/operation.ts'
import type { VaultFiles } from '../files/vault-files.ts'
import type { Inode } from '../tree/tree-values.ts'
import { readContent } from '../vault/file-content.ts'
import { type PatchTarget, patchBytes, patchHole, patchSize } from '../vault/patch.ts'
import { toMoment } from '../vault/replica.ts'
import { assertAttributeName } from './assert-names.ts'
import { type PosixAttributeChanges, planAttributes } from './posix-attributes.ts'

/** `create` requires that the attribute is new, `replace` that it exists. */
export type XattrMode = 'any' | 'create' | 'replace'

/** Largest size of a file, as on ext4. Small enough that the sum of all file sizes is a safe integer. */
const MAX_FILE_BYTES = 2 ** 44
const MAX_ATTRIBUTE_BYTES = 64 * 1024
/** Limit of bytes that an append rewrites to keep its parts together. */
const MAX_REWRITTEN_BYTES = 1024 * 1024

/**
 * Plans a write; null for no bytes. EINVAL for a negative position, EFBIG beyond the largest size.
 * @param findsStored as for `patchBytes`.
 */
export function planWrite(
  target: PatchTarget,
  position: number,
  bytes: Uint8Array,
  findsStored = false,
): FileOperation | null {
  assertSize(target.path, position, position + bytes.length, 'write')
  return bytes.length === 0 ? null : patchBytes(target, position, bytes, findsStored)
}

/** Bytes that were appended, and their position if no other writer has moved them since. */
export interface EarlierAppend {
  readonly position: number
  readonly bytes: Buffer
}

/** Plans an append. If it continues an earlier one, those bytes move behind what others appended in between. */
export function planAppend(
  target: PatchTarget,
  end: number,
  bytes: Uint8Array,
  earlier: EarlierAppend | undefined,
): FileOperation | null {
  const others = earlier === undefined ? undefined : readAfterAppend(target, end, earlier)
  if (earlier === undefined || others === undefined) return planWrite(target, end, bytes)
  return planWrite(target, earlier.position, Buffer.concat([others, earlier.bytes, bytes]))
}

/**
 * Returns the bytes behind an earlier append; undefined if there are none or too many, or the earlier bytes are gone.
 */
function readAfterAppend(
  { files, blobs, inode }: PatchTarget,
  end: number,
  { position, bytes }: EarlierAppend,
): Uint8Array | undefined {
  const length = end - position
  if (length <= bytes.length || length > MAX_REWRITTEN_BYTES) return undefined
  const tail = Buffer.concat([...readContent(files, inode, blobs, position, length)])
  return bytes.equals(tail.subarray(0, bytes.length)) ? tail.subarray(bytes.length) : undefined
}

/** Plans to extend a file to a range; null if it need not grow. EINVAL and EFBIG for the range. */
export function planAllocation(
  target: PatchTarget,
  { size }: Inode,
  position: number,
  length: number,
  keepSize: boolean,
): FileOperation | null {
  assertRange(target.path, position, length)
  return keepSize || position + length <= size ? null : patchSize(target, position + length)
}

/** Plans a hole; null behind the end. EINVAL and EFBIG for the range. */
export function planHole(
  target: PatchTarget,
  { size }: Inode,
  position: number,
  length: number,
): FileOperation | null {
  assertRange(target.path, position, length)
  return position >= size ? null : patchHole(target, position, length)
}

/** Plans a change of size, attributes or both. Both are a batch: size is content, and they must change atomically. */
export function planAttributeChanges(
  target: PatchTarget,
  inode: Inode,
  changes: PosixAttributeChanges,
): FileOperation {
  const { path, inode: number } = target
  const { size, ...others } = changes
  const isOnlySize = size !== undefined && Object.keys(others).length === 0
  const sizeChanges = size === undefined ? [] : [planSize(target, inode, size)]
  if (isOnlySize && sizeChanges[0] !== undefined) return sizeChanges[0]
  const { time } = toMoment(Date.now(), 0)
  const attributeChange = planAttributes(inode, { path, inode: number }, others, time)
  return sizeChanges.length === 0
    ? attributeChange
    : { op: 'batch', path, operations: [...sizeChanges, attributeChange] }
}

/** Plans to set an extended attribute; null removes it. EEXIST or ENODATA by mode, EINVAL for its name or size. */
export function planXattr(
  files: VaultFiles,
  attribute: { readonly path: string; readonly inode: number; readonly name: string },
  value: Uint8Array | null,
  mode: XattrMode,
): FileOperation {
  const { path, inode, name } = attribute
  const op = value === null ? 'removexattr' : 'setxattr'
  assertAttributeName(name, op)
  if (value !== null && value.length > MAX_ATTRIBUTE_BYTES) {
    throw new VfsError('EINVAL', path, {
      op,
      detail: `the attribute has ${value.length} bytes; the limit is ${MAX_ATTRIBUTE_BYTES}`,
    })
  }
  const exists = findXattr(files, inode, name) !== undefined
  if (mode === 'create' && exists) throw new VfsError('EEXIST', path, { op })
  if (mode === 'replace' && !exists) throw new VfsError('ENODATA', path, { op })
  return { op: 'xattr', ...attribute, value: value === null ? null : Buffer.from(value).toString('base64') }
}

/** Plans a change of size. Throws EISDIR for a directory, EINVAL for another type, EFBIG beyond the largest size. */
export function planSize(target: PatchTarget, { type }: Inode, size: number): FileOperation {
  const { path } = target
  if (type === 'directory') throw new VfsError('EISDIR', path, { op: 'truncate' })
  if (type !== 'file') throw new VfsError('EINVAL', path, { op: 'truncate' })
  assertSize(path, size, size, 'truncate')
  return patchSize(target, size)
}

function assertRange(path: string, position: number, length: number): void {
  if (length <= 0)
    throw new VfsError('EINVAL', path, {
      op: 'fallocate',
      detail: `the length is ${length}; it must be above 0`,
    })
  assertSize(path, position, position + length, 'fallocate')
}

function assertSize(path: string, position: number, end: number, op: string): void {
  if (!(position >= 0))
    throw new VfsError('EINVAL', path, { op, detail: `the position is ${position}; it must not be below 0` })
  if (end > MAX_FILE_BYTES) throw new VfsError('EFBIG', path, { op })
}
