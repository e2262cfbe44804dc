import { VfsError } from '../../vfs/index.ts'

export const MAX_NAME_BYTES = 255
const MAX_TARGET_BYTES = 4095
/** A unit of a string takes three bytes of UTF-8 at most. */
const SAFE_NAME_LENGTH = Math.floor(MAX_NAME_BYTES / 3)

/** Refuses what no directory can hold. ENOENT for no name at all, ENAMETOOLONG, EINVAL. */
export function assertName(name: string, op: string): void {
  if (name === '') throw new VfsError('ENOENT', name, { op, detail: 'the name is empty' })
  if (name.length > SAFE_NAME_LENGTH && Buffer.byteLength(name) > MAX_NAME_BYTES) {
    throw new VfsError('ENAMETOOLONG', name, { op })
  }
  if (name === '.' || name === '..' || name.includes('/') || name.includes('\0')) {
    throw new VfsError('EINVAL', name, { op, detail: 'no name is . or .., or has a slash or NUL in it' })
  }
  assertWellFormed(name, op)
}

/** Refuses what no symbolic link can hold. ENOENT, ENAMETOOLONG, EINVAL. */
export function assertSymlinkTarget(target: string, op: string): void {
  if (target === '') throw new VfsError('ENOENT', target, { op, detail: 'the target is empty' })
  if (Buffer.byteLength(target) > MAX_TARGET_BYTES) throw new VfsError('ENAMETOOLONG', target, { op })
  if (target.includes('\0'))
    throw new VfsError('EINVAL', target, { op, detail: 'the target has a NUL in it' })
  assertWellFormed(target, op)
}

export function assertAttributeName(name: string, op: string): void {
  if (name === '' || name.includes('\0') || Buffer.byteLength(name) > MAX_NAME_BYTES) {
    throw new VfsError('EINVAL', name, { op, detail: 'an attribute name has 1 to 255 bytes and no NUL' })
  }
  assertWellFormed(name, op)
}

/** The store keeps text: half a surrogate pair would come back as something else. */
function assertWellFormed(text: string, op: string): void {
  if (!text.isWellFormed()) throw new VfsError('EINVAL', text, { op, detail: 'it is not valid Unicode' })
}
