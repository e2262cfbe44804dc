import { chmodSync, mkdirSync, renameSync, rmSync, utimesSync, writeFileSync } from 'node:fs'
import { dirname, join } from 'node:path'
import { createTemporaryName, makePrivateFile, PRIVATE_DIRECTORY_MODE } from '../../../machine/index.ts'
import type { FileCopy } from '../../isolation/index.ts'

/** Replaces a file by a rename: a reader sees the old or the new content. Creates missing parents. */
export function replaceFile(path: string, { bytes, mode, mtimeMs }: FileCopy): void {
  mkdirSync(dirname(path), { recursive: true, mode: PRIVATE_DIRECTORY_MODE })
  const temporary = join(dirname(path), createTemporaryName())
  try {
    makePrivateFile(temporary)
    writeFileSync(temporary, bytes, { flush: true })
    chmodSync(temporary, mode & 0o777)
    utimesSync(temporary, mtimeMs / 1000, mtimeMs / 1000)
    renameSync(temporary, path)
  } catch (error) {
    rmSync(temporary, { force: true })
    throw error
  }
}
