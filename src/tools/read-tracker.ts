import type { Authors, Authorship } from './authors.ts'
import { KeyedMutex } from './keyed-mutex.ts'
import { RecentEntries } from './recent-entries.ts'

/** A version of a file and the time it was seen. */
export interface SeenVersion {
  /** The SHA-256 of the content. */
  readonly version: string
  readonly time: Date
}

/**
 * The versions one reader, the user of a registry, saw last of each file: an edit of another version is refused.
 * Two readers of one context do not share this, except for authorship.
 * Paths are in shown form: URIs, and host paths.
 */
export class ReadTracker {
  readonly #authors: Authors
  /** A forgotten file can be edited as if it had never been read. */
  readonly #seen = new RecentEntries<SeenVersion>()
  readonly #edits = new KeyedMutex()

  constructor(authors: Authors) {
    this.#authors = authors
  }

  recordRead(path: string, version: string): void {
    this.#seen.set(path, { version, time: new Date() })
  }

  /** Records a write; the writer knows the content. */
  recordWrite(context: string, path: string, version: string): void {
    this.recordRead(path, version)
    this.#authors.recordWrite(context, path, version)
  }

  lastSeen(path: string): SeenVersion | undefined {
    return this.#seen.get(path)
  }

  /** Runs an edit after the reader's earlier edits of the file: a model may send several calls at once. */
  editInOrder<Result>(path: string, edit: () => Promise<Result>): Promise<Result> {
    return this.#edits.run(path, edit)
  }

  /** Returns the author of a version, if a tool wrote it. */
  findAuthor(path: string, version: string): Authorship | undefined {
    return this.#authors.findAuthor(path, version)
  }

  /** Forgets a path and everything below it, after the reader changed it other than by writing content. */
  forget(path: string): void {
    const prefix = path.endsWith('/') ? path : `${path}/`
    this.#seen.deleteWhere((seen) => seen === path || seen.startsWith(prefix))
  }
}
