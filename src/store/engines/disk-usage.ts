import { readdirSync, statfsSync, statSync } from 'node:fs'
import { join } from 'node:path'

/** The sum of the sizes of a directory's files. */
export function getDirectorySize(directory: string): number {
  return sumFileSizes(readdirSync(directory).map((name) => join(directory, name)))
}

/** How many bytes the disk a directory is on still has for us. */
export function getDiskFreeBytes(directory: string): number {
  const { bavail, bsize } = statfsSync(directory)
  return bavail * bsize
}

/** The sum of the sizes of files. One that is not there counts nothing: an engine may just have removed it. */
export function sumFileSizes(files: readonly string[]): number {
  return files.reduce((sum, file) => sum + (statSync(file, { throwIfNoEntry: false })?.size ?? 0), 0)
}
