/** At once where the board is local, later where it is a network away. */
type RegistryResult<T> = T | Promise<T>

/** An entry of a board. */
export interface SessionRegistryEntry {
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
export interface SessionRegistry {
  /** Posts an entry, or replaces it. */
  publish(id: string, text: string): RegistryResult<void>
  /** Takes an entry away; it need not be there. */
  remove(id: string): RegistryResult<void>
  /** The ids of all entries. */
  listIds(): RegistryResult<readonly string[]>
  listEntries(): RegistryResult<readonly SessionRegistryEntry[]>
}

/** The board of a home in memory. */
export class MemorySessionRegistry implements SessionRegistry {
  readonly #entries = new Map<string, SessionRegistryEntry>()

  publish(id: string, text: string): void {
    this.#entries.set(id, { id, text, time: Date.now() })
  }

  remove(id: string): void {
    this.#entries.delete(id)
  }

  listIds(): string[] {
    return [...this.#entries.keys()]
  }

  listEntries(): SessionRegistryEntry[] {
    return [...this.#entries.values()]
  }
}
