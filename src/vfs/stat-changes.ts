import { VfsError } from './error.ts'
import type { StatChanges } from './protocols.ts'

/** Throws EINVAL for an invalid mode or time. */
export function assertStatChanges(path: string, { mode, mtime }: StatChanges): void {
  const createError = (detail: string) => new VfsError('EINVAL', path, { op: 'setattr', detail })
  if (mode !== undefined && !(Number.isInteger(mode) && mode >= 0)) {
    throw createError(`mode is ${mode}; pass an integer from 0`)
  }
  if (mtime !== undefined && Number.isNaN(mtime.getTime()))
    throw createError('mtime is not a valid date; pass a Date with a time')
}
