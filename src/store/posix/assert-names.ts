import { VfsError } from '../../vfs/index.ts'

export const MAX_NAME_BYTES = 255
const MAX_TARGET_BYTES = 4095
/** A UTF-16 code unit takes at most three bytes of UTF-8, so a name of this length needs no count. */
const SAFE_NAME_LENGTH = Math.floor(MAX_NAME_BYTES / 3)

/**
 * Throws for a name that no entry can have: ENOENT if it is empty, ENAMETOOLONG if too long, EINVAL for its characters.
 */
export function assertName(name: string, op: string): void {
  if (name === '') throw new VfsError('ENOENT', name, { op, detail: 'the name is empty' })
  if (name.length > SAFE_NAME_LENGTH && Buffer.byteLength(name) > MAX_NAME_BYTES) {
    throw new VfsError('ENAMETOOLONG', name, { op })
  }
  if (name === '.' || name === '..' || name.includes('/') || name.includes('\0')) {
    throw new VfsError('EINVAL', name, { op, detail: "a name cannot be '.' or '..' or contain '/' or NUL" })
  }
  assertWellFormed(name, op)
}

/** Throws for a target that no symbolic link can have: ENOENT, ENAMETOOLONG and EINVAL as for a name. */
export function assertSymlinkTarget(target: string, op: string): void {
  if (target === '') throw new VfsError('ENOENT', target, { op, detail: 'the target is empty' })
  if (Buffer.byteLength(target) > MAX_TARGET_BYTES) throw new VfsError('ENAMETOOLONG', target, { op })
  if (target.includes('\0')) throw new VfsError('EINVAL', target, { op, detail: 'the target contains NUL' })
  assertWellFormed(target, op)
}

/** EINVAL for a name that no extended attribute can have. */
export function assertAttributeName(name: string, op: string): void {
  if (name === '' || name.includes('\0') || Buffer.byteLength(name) > MAX_NAME_BYTES) {
    throw new VfsError('EINVAL', name, { op, detail: 'an attribute name has 1 to 255 bytes and no NUL' })
  }
  assertWellFormed(name, op)
}

/** EINVAL for half a surrogate pair: stored as text, it would come back as another character. */
function assertWellFormed(text: string, op: string): void {
  if (!text.isWellFormed()) throw new VfsError('EINVAL', text, { op, detail: 'it is not valid Unicode' })
}
