import { RecentEntries } from './recent-entries.ts'

/** A version of a file and its author. */
export interface Authorship {
  /** The SHA-256 of the content. */
  readonly version: string
  readonly context: string
}

/** Last authors of a namespace's files, as written by tools of any registry. */
export class Authors {
  readonly #written = new RecentEntries<Authorship>()

  recordWrite(context: string, path: string, version: string): void {
    this.#written.set(path, { context, version })
  }

  /** Returns the author of a version; undefined if no tool wrote it, or long ago. */
  findAuthor(path: string, version: string): Authorship | undefined {
    const last = this.#written.get(path)
    return last?.version === version ? last : undefined
  }
}
