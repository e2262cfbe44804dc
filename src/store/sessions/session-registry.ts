/** A value from a local registry, or a promise from a remote one. */
type RegistryResult<T> = T | Promise<T>

/** An entry of a session registry. */
export interface SessionRegistryEntry {
  /** Id of the session or collection that published it. */
  readonly id: string
  readonly text: string
  /** Time of the last publish, in milliseconds of the registry's own clock. */
  readonly time: number
}

/**
 * Where the sessions of a home publish what they hold, and collections query them. Separate from commits: a reader
 * never waits for a writer. A published entry is visible to every later list.
 */
export interface SessionRegistry {
  /** Interval at which busy sessions look for collections; 20 ms when absent. */
  readonly answerIntervalMs?: number
  /** Publishes or replaces an entry. Returns true if there was none. */
  publish(id: string, text: string): RegistryResult<boolean>
  /** Removes an entry if it exists. */
  remove(id: string): RegistryResult<void>
  /** Returns the ids of all entries. */
  listIds(): RegistryResult<readonly string[]>
  listEntries(): RegistryResult<readonly SessionRegistryEntry[]>
}

/** The session registry of a home in memory. */
export class MemorySessionRegistry implements SessionRegistry {
  readonly #entries = new Map<string, SessionRegistryEntry>()

  publish(id: string, text: string): boolean {
    const isNew = !this.#entries.has(id)
    this.#entries.set(id, { id, text, time: Date.now() })
    return isNew
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
