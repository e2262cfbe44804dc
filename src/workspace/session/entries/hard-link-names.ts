import type { BigIntStats } from 'node:fs'

/** Finds the names of files that have several, in the order of a walk. */
export class HardLinkNames {
  readonly #first = new Map<string, string>()
  readonly #reported = new Set<string>()

  /** Returns the path at which the walk found the same file before, or undefined. Remembers a first path. */
  findEarlier(path: string, stats: BigIntStats): string | undefined {
    if (stats.nlink < 2n || stats.isDirectory()) return undefined
    const key = `${stats.dev}:${stats.ino}`
    const earlier = this.#first.get(key)
    if (earlier === undefined) this.#first.set(key, path)
    return earlier
  }

  /** True if a path was changed, or is a second name of one that was. Remembers it then. */
  shouldReport(path: string, isChanged: boolean, earlier: string | undefined): boolean {
    const isReported = isChanged || (earlier !== undefined && this.#reported.has(earlier))
    if (isReported) this.#reported.add(path)
    return isReported
  }
}
