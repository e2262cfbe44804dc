import { RecentEntries } from './recent-entries.ts'

/** A version of a file and who wrote it. */
export interface Authorship {
  /** The SHA-256 of the content. */
  readonly version: string
  readonly context: string
}

/** Who wrote which file of a namespace last with a tool, whichever registry it was of. */
export class Authors {
  readonly #written = new RecentEntries<Authorship>()

  recordWrite(context: string, path: string, version: string): void {
    this.#written.set(path, { context, version })
  }

  /** Who wrote this version; undefined if it was not written with a tool, or long ago. */
  findAuthor(path: string, version: string): Authorship | undefined {
    const last = this.#written.get(path)
    return last?.version === version ? last : undefined
  }
}
