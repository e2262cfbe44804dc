import { isVfsError } from '../../vfs/index.ts'

/** What the model reads when a command fails; the SDK puts `Error: ` in front and marks the result as an error. */
export class MemoryError extends Error {
  override readonly name = 'MemoryError'
}

export function createMissingError(path: string): MemoryError {
  return new MemoryError(`The path ${path} does not exist`)
}

/** As `missing`, where the documentation goes on. */
export function createMissingFileError(path: string): MemoryError {
  return new MemoryError(`The path ${path} does not exist. Please provide a valid path.`)
}

export function createLinkError(): MemoryError {
  return new MemoryError('Path would escape /memories directory via symlink')
}

/** Whether nothing is there, or nothing can be: a file is on the way. */
export function isMissing(error: unknown): boolean {
  return isVfsError(error, 'ENOENT') || isVfsError(error, 'ENOTDIR')
}

/** An error of the file system in the words of the tool: where the files really are is nothing to the model. */
export function toMemoryError(error: unknown, path: string): unknown {
  if (!isVfsError(error)) return error
  if (error.code === 'ELOOP') return createLinkError()
  return new MemoryError(`${path}: ${error.code}, ${error.detail ?? 'the memory could not do this'}`, {
    cause: error,
  })
}
