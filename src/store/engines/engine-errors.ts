import { VfsError } from '../../vfs/index.ts'

/** Converts the cause of a failed commit: ENOSPC if the wording of an engine says so, else EIO. A VfsError stays. */
export function toCommitError(cause: unknown): VfsError {
  if (cause instanceof VfsError) return cause
  const message = getErrorMessage(cause)
  const code = /is full|MAP_FULL|No space left|ENOSPC/i.test(message) ? 'ENOSPC' : 'EIO'
  return new VfsError(code, '/', { op: 'commit', detail: `the store could not commit: ${message}`, cause })
}

/** Creates ENOTSUP for a database of another program. */
export function createForeignStoreError(path: string, kind: string, names: readonly string[]): VfsError {
  const tables = names.slice(0, 5).map((name) => `'${name}'`)
  const holds = tables.length === 0 ? '' : ` with ${tables.join(', ')}`
  const detail = `${path} is ${kind} of another program${holds}; it was left as it is; name another home, or move it away`
  return new VfsError('ENOTSUP', path, { op: 'open', detail })
}

/** Creates EIO for a store too damaged to open. */
export function createDamagedStoreError(path: string, detail: string): VfsError {
  const next =
    'keep a copy of it, and bring the home back from a backup; coppice export <directory> --salvage writes what can still be read'
  return new VfsError('EIO', path, {
    op: 'open',
    detail: `the store ${path} is damaged: ${detail}; ${next}`,
  })
}

/** Creates ENOTSUP for an engine whose optional package is not installed. */
export function createMissingPackageError(
  path: string,
  engine: string,
  name: string,
  cause: unknown,
): VfsError {
  const detail = `the ${engine} engine needs the package ${name}: npm install ${name}`
  return new VfsError('ENOTSUP', path, { op: 'open', detail, cause })
}

/** Converts the cause of a failed read to EIO. A VfsError stays. */
export function toReadError(cause: unknown): VfsError {
  if (cause instanceof VfsError) return cause
  const detail = `the store could not be read: ${getErrorMessage(cause)}`
  return new VfsError('EIO', '/', { op: 'read', detail, cause })
}

export function getErrorMessage(error: unknown): string {
  return error instanceof Error ? error.message : String(error)
}
