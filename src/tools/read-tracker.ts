import type { Authors, Authorship } from './authors.ts'
import { KeyedMutex } from './keyed-mutex.ts'
import { RecentEntries } from './recent-entries.ts'

/** A version of a file, and when it was seen. */
export interface SeenVersion {
  /** The SHA-256 of the content. */
  readonly version: string
  readonly time: Date
}

/**
 * What one reader, the user of a registry, saw last of which file, so that an edit of something else than what its
 * author has read is refused. Two readers of one context know nothing of each other, but for who wrote what.
 * Paths are as they are shown: URIs, and paths of the host.
 */
export class ReadTracker {
  readonly #authors: Authors
  /** What is forgotten is edited as if it had never been looked at. */
  readonly #seen = new RecentEntries<SeenVersion>()
  readonly #edits = new KeyedMutex()

  constructor(authors: Authors) {
    this.#authors = authors
  }

  recordRead(path: string, version: string): void {
    this.#seen.set(path, { version, time: new Date() })
  }

  /** Whoever writes a file knows what is in it. */
  recordWrite(context: string, path: string, version: string): void {
    this.recordRead(path, version)
    this.#authors.recordWrite(context, path, version)
  }

  lastSeen(path: string): SeenVersion | undefined {
    return this.#seen.get(path)
  }

  /** Runs an edit of a file after the reader's earlier ones of it: calls of one answer of a model come all at once. */
  editInOrder<Result>(path: string, edit: () => Promise<Result>): Promise<Result> {
    return this.#edits.run(path, edit)
  }

  /** Who wrote this version of a file, if it was written with a tool. */
  findAuthor(path: string, version: string): Authorship | undefined {
    return this.#authors.findAuthor(path, version)
  }

  /** For a reader who changed a path itself, and all below it, in another way than by writing content. */
  forget(path: string): void {
    const below = path.endsWith('/') ? path : `${path}/`
    this.#seen.deleteWhere((seen) => seen === path || seen.startsWith(below))
  }
}
