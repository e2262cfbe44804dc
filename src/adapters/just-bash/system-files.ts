import { basename, dirname, normalize } from '../../vfs/index.ts'

/** An entry of the shell: the bytes of a file, or a directory. */
export type SystemEntry = Uint8Array | 'directory'

/**
 * Files that just-bash puts into a new file system: `/bin`, `/usr/bin`, `/dev`, `/proc`.
 * They are held here and merged into listings; none is written to the file system below.
 */
export class SystemFiles {
  /** Modification time of all entries. */
  readonly createdAt: Date = new Date()
  readonly #entries = new Map<string, SystemEntry>()
  readonly #names = new Map<string, Set<string>>()

  get(path: string): SystemEntry | undefined {
    return this.#entries.get(path)
  }

  isFile(path: string): boolean {
    const entry = this.#entries.get(path)
    return entry !== undefined && entry !== 'directory'
  }

  isDirectory(path: string): boolean {
    return this.#entries.get(path) === 'directory'
  }

  /** Lists the names of the shell's entries in a directory. */
  listNames(directory: string): readonly string[] {
    return [...(this.#names.get(directory) ?? [])]
  }

  makeDirectory(path: string): void {
    this.#put(normalize(path), 'directory')
  }

  putFile(path: string, content: string | Uint8Array): void {
    this.#put(normalize(path), typeof content === 'string' ? Buffer.from(content) : content)
  }

  #put(path: string, entry: SystemEntry): void {
    this.#entries.set(path, entry)
    if (path === '/') return
    const above = dirname(path)
    if (!this.#entries.has(above)) this.#put(above, 'directory')
    const names = this.#names.get(above) ?? new Set()
    this.#names.set(above, names.add(basename(path)))
  }
}
