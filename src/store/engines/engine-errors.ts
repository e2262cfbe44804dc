import { VfsError } from '../../vfs/index.ts'

/** What a failed commit is reported as: ENOSPC if it says so in any of the engines' words, else EIO. */
export function commitError(cause: unknown): VfsError {
  if (cause instanceof VfsError) return cause
  const message = getErrorMessage(cause)
  const code = /is full|MAP_FULL|No space left|ENOSPC/i.test(message) ? 'ENOSPC' : 'EIO'
  return new VfsError(code, '/', { op: 'commit', detail: `the store could not commit: ${message}`, cause })
}

/** Refuses a store that a later version has written. */
export function assertFormat(path: string, found: number, known: number): void {
  if (found === known) return
  const detail = `the store has format ${found}, this version knows ${known}; update coppice`
  throw new VfsError('ENOTSUP', path, { op: 'open', detail })
}

/** Refuses a database that another program has made, and keeps its data in. */
export function createForeignStoreError(path: string, kind: string, names: readonly string[]): VfsError {
  const tables = names.slice(0, 5).map((name) => `'${name}'`)
  const holds = tables.length === 0 ? '' : ` with ${tables.join(', ')}`
  const detail = `${path} is ${kind} of another program${holds}; it was left as it is; name another home, or move it away`
  return new VfsError('ENOTSUP', path, { op: 'open', detail })
}

/** Refuses a store that its engine must not open. */
export function createDamagedStoreError(path: string, detail: string): VfsError {
  const next =
    'keep a copy of it, and bring the home back from a backup; coppice export <directory> --salvage writes what can still be read'
  return new VfsError('EIO', path, {
    op: 'open',
    detail: `the store ${path} is damaged: ${detail}; ${next}`,
  })
}

/** The package of an engine is an optional peer, and is not there. */
export function createMissingPackageError(
  path: string,
  engine: string,
  name: string,
  cause: unknown,
): VfsError {
  const detail = `the ${engine} engine needs the package ${name}: npm install ${name}`
  return new VfsError('ENOTSUP', path, { op: 'open', detail, cause })
}

/** A read that failed for the disk's sake. */
export function readError(cause: unknown): VfsError {
  if (cause instanceof VfsError) return cause
  const detail = `the store could not be read: ${getErrorMessage(cause)}`
  return new VfsError('EIO', '/', { op: 'read', detail, cause })
}

export function getErrorMessage(error: unknown): string {
  return error instanceof Error ? error.message : String(error)
}
