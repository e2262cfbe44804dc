import { readdirSync, readFileSync, rmSync, writeFileSync } from 'node:fs'
import { join } from 'node:path'
import {
  createProcessTag,
  isErrno,
  isStaleTag,
  makePrivateDirectory,
  makePrivateFile,
} from '../../../machine/index.ts'

const SUFFIX = '.json'

/** The note of a machine about a vault that it has leased. It exists before the vault is on this machine. */
export interface LeaseNote {
  readonly vault: string
  /** Id of the lease, by which its record in the database is known. */
  readonly lease: string
  /** Tag of the process that ships the changes. */
  readonly owner: string
}

/** The notes of a machine about leased vaults: a small file for each, in one directory. */
export class LeaseNotes {
  readonly #directory: string

  constructor(directory: string) {
    this.#directory = directory
  }

  write(vault: string, lease: string): void {
    makePrivateDirectory(this.#directory)
    const file = this.#getFile(vault)
    makePrivateFile(file)
    writeFileSync(file, JSON.stringify({ vault, lease, owner: createProcessTag() }), { flush: true })
  }

  remove(vault: string): void {
    rmSync(this.#getFile(vault), { force: true })
  }

  /** Lists the notes whose process has ended: what it did not ship is on this machine. */
  listAbandoned(): LeaseNote[] {
    return this.list().filter(({ owner }) => isStaleTag(owner))
  }

  list(): LeaseNote[] {
    try {
      const names = readdirSync(this.#directory).filter((name) => name.endsWith(SUFFIX))
      return names.flatMap((name) => this.find(name.slice(0, -SUFFIX.length)) ?? [])
    } catch (error) {
      if (isErrno(error, 'ENOENT')) return []
      throw error
    }
  }

  find(vault: string): LeaseNote | undefined {
    try {
      return JSON.parse(readFileSync(this.#getFile(vault), 'utf8'))
    } catch {
      // There is none, or a crash left it empty: then nothing was on this machine yet.
      return undefined
    }
  }

  #getFile(vault: string): string {
    return join(this.#directory, vault + SUFFIX)
  }
}
