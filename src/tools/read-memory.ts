/** A version of a file, and when it was seen or written. */
export interface Sighting {
  /** The SHA-256 of the content. */
  readonly version: string
  readonly time: Date
}

/** A version of a file and who wrote it. */
export interface Authorship extends Sighting {
  readonly context: string
}

/** More files than this at once, and the oldest sighting is forgotten: its context edits as if it had never looked. */
const MAX_SIGHTINGS = 10_000

/**
 * What each context saw last of which file, and who wrote which version with a tool, so that an edit of something
 * else than what its author has read is refused. Paths are as they are shown: URIs, and paths of the host.
 */
export class ReadMemory {
  readonly #seen = new Map<string, Sighting>()
  readonly #written = new Map<string, Authorship>()

  saw(context: string, path: string, version: string): void {
    remember(this.#seen, key(context, path), { version, time: new Date() })
  }

  /** Whoever writes a file knows what is in it. */
  wrote(context: string, path: string, version: string): void {
    this.saw(context, path, version)
    remember(this.#written, path, { context, version, time: new Date() })
  }

  lastSeen(context: string, path: string): Sighting | undefined {
    return this.#seen.get(key(context, path))
  }

  /** Who wrote this version of a file, if it was written with a tool. */
  authorOf(path: string, version: string): Authorship | undefined {
    const last = this.#written.get(path)
    return last?.version === version ? last : undefined
  }

  /** For a context that changed a path itself, and all below it, in another way than by writing content. */
  forget(context: string, path: string): void {
    const own = key(context, path)
    const below = own.endsWith('/') ? own : `${own}/`
    for (const seen of this.#seen.keys()) {
      if (seen === own || seen.startsWith(below)) this.#seen.delete(seen)
    }
  }
}

function remember<T>(memory: Map<string, T>, at: string, value: T): void {
  // Taken out first, so that the map's order is that of use.
  memory.delete(at)
  memory.set(at, value)
  if (memory.size <= MAX_SIGHTINGS) return
  for (const oldest of memory.keys()) {
    memory.delete(oldest)
    return
  }
}

function key(context: string, path: string): string {
  return `${context}\0${path}`
}
