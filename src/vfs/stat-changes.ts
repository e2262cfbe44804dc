import { VfsError } from './error.ts'
import type { StatChanges } from './protocols.ts'

/** Throws EINVAL for an invalid mode or time. */
export function assertStatChanges(path: string, { mode, mtime }: StatChanges): void {
  const refuse = (detail: string) => new VfsError('EINVAL', path, { op: 'setattr', detail })
  if (mode !== undefined && !(Number.isInteger(mode) && mode >= 0)) {
    throw refuse(`mode is ${mode}; pass an integer from 0`)
  }
  if (mtime !== undefined && Number.isNaN(mtime.getTime()))
    throw refuse('mtime is not a valid date; pass a Date with a time')
}
