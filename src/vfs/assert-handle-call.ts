import { VfsError } from './error.ts'

/**
 * Throws EINVAL unless a position or size of an open file is an integer from 0, whatever its declared type. The arithmetic
 * of any other number would damage the file.
 */
export function assertCount(path: string, count: number, op: string): void {
  if (Number.isSafeInteger(count) && count >= 0) return
  const detail = `${count} is not a valid position or size; pass an integer from 0`
  throw new VfsError('EINVAL', path, { op, detail })
}

/** Throws EINVAL unless an open file can be written so. Of a string, `new Uint8Array` would make an empty array or zeros. */
export function assertHandleWrite(path: string, position: number, bytes: unknown): void {
  assertCount(path, position, 'write')
  if (bytes instanceof Uint8Array) return
  throw new VfsError('EINVAL', path, { op: 'write', detail: 'a handle writes bytes; pass a Uint8Array' })
}
