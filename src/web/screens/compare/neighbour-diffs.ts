import type { TreeName, WebChange, WebFileDiff } from '../../../web-api/index.ts'
import { call } from '../../client/api.ts'
import type { EarlyValue } from '../../parts/resource.ts'

/** Diffs that are kept. */
const MAX_DIFFS = 8
/** Larger files are read when they are shown: comparing them costs the server more than a person waits. */
const MAX_BYTES = 256 * 1024
/** A directory changes without an event, so a diff is not kept for long. */
const MAX_AGE_MS = 30_000

interface NeighbourDiff extends EarlyValue<WebFileDiff> {
  readonly version: string
  readonly time: number
}

/** The first hunks of the files next to the one that is shown, so that the next key shows them at once. */
export class NeighbourDiffs {
  readonly #from: TreeName
  readonly #to: TreeName
  readonly #diffs = new Map<string, NeighbourDiff>()

  constructor(from: TreeName, to: TreeName) {
    this.#from = from
    this.#to = to
  }

  /** Returns the diff of a file, which may still be on its way; undefined if it was not prefetched. */
  find(change: WebChange): EarlyValue<WebFileDiff> | undefined {
    const found = this.#diffs.get(change.path)
    const isFresh = found !== undefined && performance.now() - found.time < MAX_AGE_MS
    return isFresh && found.version === formatVersion(change) ? found : undefined
  }

  /** Reads the diffs of some files that are not here yet. */
  prefetch(changes: readonly WebChange[]): void {
    for (const change of changes)
      if (Math.max(change.oldSize, change.newSize) <= MAX_BYTES && this.find(change) === undefined)
        this.#read(change)
  }

  /** Forgets all diffs, because a tree changed. */
  clear = (): void => this.#diffs.clear()

  #read(change: WebChange): void {
    const { path } = change
    const promise = call('getFileDiff', { from: this.#from, to: this.#to, path })
    const diff: { value: WebFileDiff | undefined } & Omit<NeighbourDiff, 'value'> = {
      value: undefined,
      promise,
      version: formatVersion(change),
      time: performance.now(),
    }
    this.#diffs.delete(path)
    this.#diffs.set(path, diff)
    const [oldest] = this.#diffs.keys()
    if (this.#diffs.size > MAX_DIFFS && oldest !== undefined) this.#diffs.delete(oldest)
    promise.then(
      (value) => {
        diff.value = value
      },
      // The file is read again when it is shown, and the error is shown then.
      () => this.#diffs.get(path) === diff && this.#diffs.delete(path),
    )
  }
}

/** Identifies the version of a file, as far as a list knows it: another one must be read again. */
export function formatVersion({ newSize, oldSize, kind }: WebChange): string {
  return `${newSize} ${oldSize} ${kind}`
}
