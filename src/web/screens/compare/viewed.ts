import { type Signal, signal } from '@preact/signals'

/** Versions of files that a person has viewed: the digest of each by its path. */
export class ViewedFiles {
  readonly digests: Signal<ReadonlyMap<string, string>>
  readonly #key: string

  constructor(from: string, to: string) {
    this.#key = `coppice-viewed ${from} ${to}`
    this.digests = signal(readStored(this.#key))
  }

  /** Returns whether this version of a file was viewed; without a digest, any version. */
  has(path: string, digest?: string): boolean {
    const stored = this.digests.value.get(path)
    return stored !== undefined && (digest === undefined || stored === digest)
  }

  toggle(path: string, digest: string): void {
    const next = new Map(this.digests.value)
    if (this.has(path, digest)) next.delete(path)
    else next.set(path, digest)
    this.digests.value = next
    // A browser that stores nothing still has the marks until the page is closed.
    try {
      localStorage.setItem(this.#key, JSON.stringify([...next]))
    } catch {}
  }
}

function readStored(key: string): ReadonlyMap<string, string> {
  try {
    const stored: unknown = JSON.parse(localStorage.getItem(key) ?? '[]')
    return new Map(Array.isArray(stored) ? stored.filter(isMark) : [])
  } catch {
    return new Map()
  }
}

function isMark(value: unknown): value is [string, string] {
  return Array.isArray(value) && typeof value[0] === 'string' && typeof value[1] === 'string'
}
