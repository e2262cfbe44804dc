import { execFileSync } from 'node:child_process'
import { existsSync, mkdirSync, writeFileSync } from 'node:fs'
import { join } from 'node:path'
import type { Settings } from '../harness/benchmark.ts'

/** Files in the directories of which commands make a fork. */
export const SIZES: readonly number[] = [100, 10_000, 100_000]
/** Forks of the largest directory that one comparison shows. */
export const COMPARED_FORKS = 4
const FILES_TOGETHER = 1000

/** Creates a directory with a number of small files, unless another subject has done so. Returns its path. */
export function prepareDirectory(size: number, { directory, isQuick }: Settings): string {
  const path = join(directory, `files-${size}`)
  return makeOnce(path, () => {
    const count = isQuick ? Math.ceil(size / 20) : size
    for (let file = 0; file < count; file++) {
      const parent = join(path, `d${Math.floor(file / FILES_TOGETHER)}`)
      if (file % FILES_TOGETHER === 0) mkdirSync(parent, { recursive: true })
      writeFileSync(join(parent, `f${file}.txt`), `file ${file}\n`)
    }
  })
}

/** Runs `make` to fill a directory, unless another part of the run has done so. Returns its path. */
export function makeOnce(path: string, make: () => void): string {
  const mark = `${path}.made`
  if (existsSync(mark)) return path
  mkdirSync(path, { recursive: true })
  make()
  // Unwritten pages would be flushed during the measurement.
  execFileSync('sync')
  writeFileSync(mark, '')
  return path
}
