import { readdirSync, statfsSync, statSync } from 'node:fs'
import { join } from 'node:path'

/** Returns the sum of the sizes of a directory's files. */
export function getDirectorySize(directory: string): number {
  return sumFileSizes(readdirSync(directory).map((name) => join(directory, name)))
}

/** Returns the free bytes of a directory's disk for this user. */
export function getDiskFreeBytes(directory: string): number {
  const { bavail, bsize } = statfsSync(directory)
  return bavail * bsize
}

/** Returns the sum of file sizes. A missing file counts as 0: an engine may just have removed it. */
export function sumFileSizes(files: readonly string[]): number {
  return files.reduce((sum, file) => sum + (statSync(file, { throwIfNoEntry: false })?.size ?? 0), 0)
}
