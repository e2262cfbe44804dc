import type { ReadTracker } from '../tools/index.ts'

/** Limit of clients; the one that came first is forgotten. */
const MAX_CLIENTS = 100

/**
 * The versions of files that clients without a session have read, by the name of the client. Two windows of one program
 * count as one reader: an edit by either may rest on what the other has read.
 */
export class ClientReads {
  readonly #create: () => ReadTracker
  readonly #byClient = new Map<string, ReadTracker>()

  constructor(create: () => ReadTracker) {
    this.#create = create
  }

  /** Returns the tracker of a client, and creates it on first use. */
  getTracker(client: string): ReadTracker {
    const existing = this.#byClient.get(client)
    if (existing !== undefined) return existing
    const tracker = this.#create()
    this.#byClient.set(client, tracker)
    const [oldest] = this.#byClient.keys()
    if (oldest !== undefined && this.#byClient.size > MAX_CLIENTS) this.#byClient.delete(oldest)
    return tracker
  }
}
