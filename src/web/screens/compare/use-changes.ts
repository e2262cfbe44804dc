import { batch, type Signal, signal } from '@preact/signals'
import { useLayoutEffect, useMemo } from 'preact/hooks'
import type { Page, TreeName, WebChange } from '../../../web-api/index.ts'
import { call } from '../../client/api.ts'
import { useReconnect } from '../../client/live.ts'
import { readPages } from '../../client/pages.ts'

/** More files than these are not listed; the command line has them all. */
const MAX_CHANGES = 50_000
/** Files of the first page: more than a screen shows, and not many more. */
const FIRST_CHANGES = 100
/** Time between two additions to a list that is still read: each renders it. */
const ADD_MS = 100
/** Lines are counted for this many files: counting reads them. */
const MAX_COUNTED = 500

/** The files that differ between two trees, as far as they are loaded. */
export interface ChangeList {
  readonly changes: Signal<readonly WebChange[]>
  /** Number of all files that differ, loaded or not. */
  readonly total: Signal<number>
  readonly isComplete: Signal<boolean>
  readonly error: Signal<Error | undefined>
  readonly reload: () => void
}

/** Lists the files that differ, then counts their lines if there are not too many. */
export function useChanges(from: TreeName, to: TreeName): ChangeList {
  const list = useMemo(() => new LoadedChanges(from, to), [from, to])
  useLayoutEffect(() => {
    list.reload()
    return () => list.stop()
  }, [list])
  useReconnect(list.reload)
  return list
}

class LoadedChanges implements ChangeList {
  readonly changes: Signal<readonly WebChange[]> = signal([])
  readonly total: Signal<number> = signal(0)
  readonly isComplete: Signal<boolean> = signal(false)
  readonly error: Signal<Error | undefined> = signal(undefined)
  readonly #from: TreeName
  readonly #to: TreeName
  #current: AbortController = new AbortController()

  constructor(from: TreeName, to: TreeName) {
    this.#from = from
    this.#to = to
  }

  reload = (): void => {
    this.stop()
    this.#current = new AbortController()
    void this.#load(this.#current.signal)
  }

  stop(): void {
    this.#current.abort()
  }

  async #load(signal: AbortSignal): Promise<void> {
    if (this.#from === '' || this.#to === '') return
    // A list that is shown stays until the new one is complete: rows must not jump while a person reads.
    const isFirst = !this.isComplete.value
    let [addedAt, count] = [Number.NEGATIVE_INFINITY, 0]
    try {
      const found = await this.#read(false, signal, (items, { total = items.length }) => {
        count = total
        if (signal.aborted || !isFirst || performance.now() - addedAt < ADD_MS) return
        addedAt = performance.now()
        this.#show([...items], total)
      })
      if (signal.aborted) return
      this.error.value = undefined
      this.isComplete.value = true
      this.#show(keepCounts(found, this.changes.value), count)
      if (found.length > MAX_COUNTED) return
      const counted = await this.#read(true, signal)
      if (!signal.aborted) this.#show(counted, counted.length)
    } catch (error) {
      if (!signal.aborted) this.error.value = error instanceof Error ? error : new Error(String(error))
    }
  }

  #show(changes: readonly WebChange[], total: number): void {
    batch(() => {
      this.changes.value = changes
      this.total.value = total
    })
  }

  #read(
    lines: boolean,
    signal: AbortSignal,
    onPage?: (items: readonly WebChange[], page: Page<WebChange>) => void,
  ): Promise<readonly WebChange[]> {
    const pair = { from: this.#from, to: this.#to }
    return readPages((page) => call('listChanges', { ...pair, ...page, lines }, signal), {
      maxItems: MAX_CHANGES,
      firstItems: FIRST_CHANGES,
      ...(onPage && { onPage }),
    })
  }
}

/** Shows the old counts until the new ones arrive. */
function keepCounts(changes: readonly WebChange[], before: readonly WebChange[]): readonly WebChange[] {
  const counts = new Map(before.map(({ path, lines }) => [path, lines]))
  return changes.map((change) => ({ ...change, lines: change.lines ?? counts.get(change.path) ?? null }))
}
