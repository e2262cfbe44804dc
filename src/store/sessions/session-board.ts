/** At once where the board is local, later where it is a network away. */
type BoardResult<T> = T | Promise<T>

/** An entry of a board. */
export interface BoardEntry {
  /** The mark of the session or collection that posted it. */
  readonly id: string
  readonly text: string
  /** When it was posted last, in milliseconds of the board's own clock. */
  readonly time: number
}

/**
 * Where the sessions of a home show what they hold, and collections ask them. Apart from everything that is committed:
 * a reader never waits for a writer. An entry that was posted is seen by everybody who lists afterwards.
 */
export interface SessionBoard {
  /** Posts an entry, or replaces it. */
  post(id: string, text: string): BoardResult<void>
  /** Takes an entry away; it need not be there. */
  withdraw(id: string): BoardResult<void>
  /** The ids of all entries. */
  ids(): BoardResult<readonly string[]>
  list(): BoardResult<readonly BoardEntry[]>
}

/** The board of a home in memory. */
export class MemoryBoard implements SessionBoard {
  readonly #entries = new Map<string, BoardEntry>()

  post(id: string, text: string): void {
    this.#entries.set(id, { id, text, time: Date.now() })
  }

  withdraw(id: string): void {
    this.#entries.delete(id)
  }

  ids(): string[] {
    return [...this.#entries.keys()]
  }

  list(): BoardEntry[] {
    return [...this.#entries.values()]
  }
}
