import { isVfsError } from '../../vfs/index.ts'

/** Error message for the model; the SDK prefixes `Error: ` and marks the result as an error. */
export class MemoryError extends Error {
  override readonly name = 'MemoryError'
}

export function createMissingError(path: string): MemoryError {
  return new MemoryError(`The path ${path} does not exist`)
}

/** Like `createMissingError`, with the longer documented text. */
export function createMissingFileError(path: string): MemoryError {
  return new MemoryError(`The path ${path} does not exist. Please provide a valid path.`)
}

export function createLinkError(): MemoryError {
  return new MemoryError('Path would escape /memories directory via symlink')
}

/** True if nothing exists at the path, or a parent of it is a file. */
export function isMissing(error: unknown): boolean {
  return isVfsError(error, 'ENOENT') || isVfsError(error, 'ENOTDIR')
}

/** Converts a file-system error to the tool's wording, with the model's path in place of the real one. */
export function toMemoryError(error: unknown, path: string): unknown {
  if (!isVfsError(error)) return error
  if (error.code === 'ELOOP') return createLinkError()
  return new MemoryError(`${path}: ${error.code}, ${error.detail ?? 'the memory does not support this'}`, {
    cause: error,
  })
}
