import { VfsError } from '../error.ts'
import type { Stat } from '../file-system.ts'

/** Stat of a directory that exists because a mount point is below it. */
export function createSyntheticStat(): Stat {
  return { type: 'directory', size: 0, mtime: new Date(0), mode: 0o555 }
}

/** Returns the error for setting attributes of a synthetic directory, which nothing stores. */
export function createFixedAttributesError(path: string): VfsError {
  const detail = 'the directory exists only because of a mount below it, so its attributes cannot be set'
  return new VfsError('ENOTSUP', path, { op: 'setattr', detail })
}
