import { copyFileSync, mkdtempSync, rmSync, statSync } from 'node:fs'
import { tmpdir } from 'node:os'
import { basename, join } from 'node:path'
import { VfsError } from '../../vfs/index.ts'

const MAX_TRIES = 3

/** Copied files of a store in a temporary directory of this process. */
export interface PrivateCopy {
  readonly directory: string
  remove(): void
}

/**
 * Copies the files of a store into a temporary directory that only this user may enter.
 * EUNAVAILABLE if another process keeps writing to them: the copies would not belong together.
 */
export function createPrivateCopy(list: () => readonly string[]): PrivateCopy {
  const directory = mkdtempSync(join(tmpdir(), 'coppice-read-'))
  const remove = () => rmSync(directory, { recursive: true, force: true })
  try {
    for (let tries = 0; tries < MAX_TRIES; tries++) {
      if (tryCopy(list, directory)) return { directory, remove }
    }
  } catch (error) {
    remove()
    throw error
  }
  remove()
  const [file = '/'] = list()
  const detail = `${file} is written by another process while it is read; try again`
  throw new VfsError('EUNAVAILABLE', file, { op: 'open', detail })
}

/** Copies all files; false if one of them changed meanwhile. */
function tryCopy(list: () => readonly string[], directory: string): boolean {
  const files = list()
  const before = getFingerprint(files)
  for (const file of files) {
    const copy = join(directory, basename(file))
    rmSync(copy, { force: true })
    copyFileSync(file, copy)
  }
  return getFingerprint(list()) === before
}

function getFingerprint(files: readonly string[]): string {
  return files
    .map((file) => {
      const found = statSync(file, { bigint: true, throwIfNoEntry: false })
      return `${file} ${found?.ino} ${found?.size} ${found?.mtimeNs}`
    })
    .join('\n')
}
