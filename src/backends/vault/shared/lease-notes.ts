import { renameSync, rmSync, writeFileSync } from 'node:fs'
import { join } from 'node:path'
import {
  createProcessTag,
  isStaleTag,
  listDirectoryIfPresent,
  makePrivateDirectory,
  makePrivateFile,
  readFileIfPresent,
} from '../../../machine/index.ts'
import { isVaultName } from '../../../store/index.ts'

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

  /** Writes or replaces a note in one step: no crash loses the note of a vault that is on this machine. */
  write(vault: string, lease: string): void {
    makePrivateDirectory(this.#directory)
    const owner = createProcessTag()
    const draft = `${this.#getFile(vault)}.${owner}`
    try {
      makePrivateFile(draft)
      writeFileSync(draft, JSON.stringify({ vault, lease, owner }), { flush: true })
      renameSync(draft, this.#getFile(vault))
    } finally {
      rmSync(draft, { force: true })
    }
  }

  remove(vault: string): void {
    rmSync(this.#getFile(vault), { force: true })
  }

  /** Lists the notes whose process has ended: the changes that it did not ship are on this machine only. */
  listAbandoned(): LeaseNote[] {
    return this.list().filter(({ owner }) => isStaleTag(owner))
  }

  list(): LeaseNote[] {
    const names = listDirectoryIfPresent(this.#directory).filter((name) => name.endsWith(SUFFIX))
    return names.flatMap((name) => this.find(name.slice(0, -SUFFIX.length)) ?? [])
  }

  /** Finds the note of a vault. Throws if it cannot be read: without it, others would change a leased vault. */
  find(vault: string): LeaseNote | undefined {
    // Any other text may be no name of a file either.
    if (!isVaultName(vault)) return undefined
    const text = readFileIfPresent(this.#getFile(vault))
    return text === undefined ? undefined : parseNote(text)
  }

  #getFile(vault: string): string {
    return join(this.#directory, vault + SUFFIX)
  }
}

function parseNote(text: string): LeaseNote | undefined {
  try {
    return JSON.parse(text)
  } catch {
    // An earlier version wrote in place, and a crash left it empty.
    return undefined
  }
}
