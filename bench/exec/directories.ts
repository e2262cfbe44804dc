import { execFileSync } from 'node:child_process'
import { existsSync, mkdirSync, writeFileSync } from 'node:fs'
import { join } from 'node:path'
import type { Settings } from '../harness/benchmark.ts'

/** How many files the directories have in which nothing is done. */
export const SIZES: readonly number[] = [100, 10_000, 100_000]
/** Forks of the largest of them that are compared. */
export const COMPARED_FORKS = 4
const FILES_TOGETHER = 1000

/** Creates a directory with this many small files, once for all subjects. */
export function directoryOf(size: number, { directory, isQuick }: Settings): string {
  const path = join(directory, `files-${size}`)
  return madeOnce(path, () => {
    const count = isQuick ? Math.ceil(size / 20) : size
    for (let file = 0; file < count; file++) {
      const parent = join(path, `d${Math.floor(file / FILES_TOGETHER)}`)
      if (file % FILES_TOGETHER === 0) mkdirSync(parent, { recursive: true })
      writeFileSync(join(parent, `f${file}.txt`), `file ${file}\n`)
    }
  })
}

/** Makes something in a directory, unless another part of the run has done so. */
export function madeOnce(path: string, make: () => void): string {
  const mark = `${path}.made`
  if (existsSync(mark)) return path
  mkdirSync(path, { recursive: true })
  make()
  // Unwritten pages would be flushed during the measurement.
  execFileSync('sync')
  writeFileSync(mark, '')
  return path
}
