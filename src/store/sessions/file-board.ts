import { readdirSync, readFileSync, renameSync, rmSync, statSync, writeFileSync } from 'node:fs'
import { join } from 'node:path'
import { makePrivateDirectory, makePrivateFile } from '../../machine/index.ts'
import type { BoardEntry, SessionBoard } from './session-board.ts'

/** What is being written is nobody's entry yet. */
const UNFINISHED = '.new'

/** The board of a home on disk: a directory beside the store, with a small file for each entry. */
export class FileBoard implements SessionBoard {
  readonly #directory: string

  constructor(directory: string) {
    this.#directory = directory
  }

  post(id: string, text: string): void {
    const path = join(this.#directory, id)
    try {
      write(path, text)
    } catch (error) {
      if (!isAbsence(error)) throw error
      makePrivateDirectory(this.#directory)
      write(path, text)
    }
  }

  withdraw(id: string): void {
    rmSync(join(this.#directory, id), { force: true })
  }

  ids(): string[] {
    const names = found(() => readdirSync(this.#directory)) ?? []
    return names.filter((name) => !name.endsWith(UNFINISHED))
  }

  list(): BoardEntry[] {
    return this.ids().flatMap((id) => {
      const path = join(this.#directory, id)
      const entry = found(() => ({ id, text: readFileSync(path, 'utf8'), time: statSync(path).mtimeMs }))
      return entry === undefined ? [] : [entry]
    })
  }
}

function write(path: string, text: string): void {
  makePrivateFile(path + UNFINISHED)
  writeFileSync(path + UNFINISHED, text)
  renameSync(path + UNFINISHED, path)
}

/** What is read; undefined if it is not there. */
function found<T>(read: () => T): T | undefined {
  try {
    return read()
  } catch (error) {
    if (isAbsence(error)) return undefined
    throw error
  }
}

function isAbsence(error: unknown): boolean {
  return error instanceof Error && 'code' in error && error.code === 'ENOENT'
}
