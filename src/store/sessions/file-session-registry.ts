import { existsSync, readdirSync, readFileSync, renameSync, rmSync, statSync, writeFileSync } from 'node:fs'
import { join } from 'node:path'
import { isErrno, makePrivateDirectory, makePrivateFile } from '../../machine/index.ts'
import type { SessionRegistry, SessionRegistryEntry } from './session-registry.ts'

/** Suffix of an entry that is still being written. */
const TEMPORARY_SUFFIX = '.new'

/** The session registry of a home on disk: a directory beside the store with a small file per entry. */
export class FileSessionRegistry implements SessionRegistry {
  readonly #directory: string

  constructor(directory: string) {
    this.#directory = directory
  }

  publish(id: string, text: string): boolean {
    const path = join(this.#directory, id)
    const isNew = !existsSync(path)
    try {
      writeAtomically(path, text)
    } catch (error) {
      if (!isNotFound(error)) throw error
      makePrivateDirectory(this.#directory)
      writeAtomically(path, text)
    }
    return isNew
  }

  remove(id: string): void {
    rmSync(join(this.#directory, id), { force: true })
  }

  listIds(): string[] {
    const names = readIfPresent(() => readdirSync(this.#directory)) ?? []
    return names.filter((name) => !name.endsWith(TEMPORARY_SUFFIX))
  }

  listEntries(): SessionRegistryEntry[] {
    return this.listIds().flatMap((id) => {
      const path = join(this.#directory, id)
      const entry = readIfPresent(() => ({
        id,
        text: readFileSync(path, 'utf8'),
        time: statSync(path).mtimeMs,
      }))
      return entry === undefined ? [] : [entry]
    })
  }
}

function writeAtomically(path: string, text: string): void {
  makePrivateFile(path + TEMPORARY_SUFFIX)
  writeFileSync(path + TEMPORARY_SUFFIX, text)
  renameSync(path + TEMPORARY_SUFFIX, path)
}

/** Returns the result of a read; undefined if the file is missing. */
function readIfPresent<T>(read: () => T): T | undefined {
  try {
    return read()
  } catch (error) {
    if (isNotFound(error)) return undefined
    throw error
  }
}

function isNotFound(error: unknown): boolean {
  return isErrno(error, 'ENOENT')
}
