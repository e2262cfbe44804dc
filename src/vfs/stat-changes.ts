import { VfsError } from './error.ts'
import type { StatChanges } from './protocols.ts'

/** EINVAL for a mode that is no number of bits, or a time that is none. */
export function assertStatChanges(path: string, { mode, mtime }: StatChanges): void {
  const refuse = (detail: string) => new VfsError('EINVAL', path, { op: 'setattr', detail })
  if (mode !== undefined && !(Number.isInteger(mode) && mode >= 0)) {
    throw refuse(`a mode is an integer from 0, not ${mode}`)
  }
  if (mtime !== undefined && Number.isNaN(mtime.getTime())) throw refuse('mtime is no valid date')
}
