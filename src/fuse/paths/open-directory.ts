import type { CallContext, DirEntry, FileSystem } from '../../vfs/index.ts'

/** Listing of one `opendir`, read on demand and restarted by `rewind`. */
export class OpenDirectory {
  readonly #list: () => AsyncIterable<DirEntry>
  #source: AsyncIterator<DirEntry> | undefined
  #entries: DirEntry[] = []

  constructor(fs: FileSystem, path: string, ctx: CallContext) {
    this.#list = () => fs.readdir(path, ctx)
  }

  /** Restarts the listing. */
  async rewind(): Promise<void> {
    await this.close()
    this.#entries = []
    this.#source = this.#list()[Symbol.asyncIterator]()
  }

  /** Returns the entry at an index; undefined at the end. */
  async getEntry(index: number): Promise<DirEntry | undefined> {
    while (this.#entries.length <= index && this.#source !== undefined) {
      const { done, value } = await this.#source.next()
      if (done) this.#source = undefined
      else this.#entries.push(value)
    }
    return this.#entries[index]
  }

  async close(): Promise<void> {
    const source = this.#source
    this.#source = undefined
    await source?.return?.()
  }
}
