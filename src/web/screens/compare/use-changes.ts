import { type Signal, signal } from '@preact/signals'
import { useEffect, useMemo } from 'preact/hooks'
import type { TreeName, WebChange } from '../../../web-api/index.ts'
import { call } from '../../client/api.ts'
import { useReconnect } from '../../client/live.ts'
import { readPages } from '../../client/pages.ts'

/** More files than these are not listed; the command line has them all. */
const MAX_CHANGES = 50_000
/** Lines are counted for this many files: counting reads them. */
const MAX_COUNTED = 500

/** The files that differ between two trees, as far as they are loaded. */
export interface ChangeList {
  readonly changes: Signal<readonly WebChange[]>
  readonly isComplete: Signal<boolean>
  readonly error: Signal<Error | undefined>
  readonly reload: () => void
}

/** Lists the files that differ, then counts their lines if there are not too many. */
export function useChanges(from: TreeName, to: TreeName): ChangeList {
  const list = useMemo(() => new LoadedChanges(from, to), [from, to])
  useEffect(() => {
    list.reload()
    return () => list.stop()
  }, [list])
  useReconnect(list.reload)
  return list
}

class LoadedChanges implements ChangeList {
  readonly changes: Signal<readonly WebChange[]> = signal([])
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
    try {
      const found = await this.#read(false, signal, (items, isComplete) => {
        if (signal.aborted || !(isFirst || isComplete)) return
        this.changes.value = isFirst ? [...items] : keepCounts(items, this.changes.value)
        this.isComplete.value = isComplete
      })
      this.error.value = undefined
      this.isComplete.value = true
      if (found.length > MAX_COUNTED || signal.aborted) return
      const counted = await this.#read(true, signal, () => {})
      if (!signal.aborted) this.changes.value = counted
    } catch (error) {
      if (!signal.aborted) this.error.value = error instanceof Error ? error : new Error(String(error))
    }
  }

  #read(
    lines: boolean,
    signal: AbortSignal,
    onItems: (items: readonly WebChange[], isComplete: boolean) => void,
  ): Promise<readonly WebChange[]> {
    const pair = { from: this.#from, to: this.#to }
    return readPages((page) => call('listChanges', { ...pair, ...page, lines }, signal), MAX_CHANGES, onItems)
  }
}

/** Shows the old counts until the new ones arrive. */
function keepCounts(changes: readonly WebChange[], before: readonly WebChange[]): readonly WebChange[] {
  const counts = new Map(before.map(({ path, lines }) => [path, lines]))
  return changes.map((change) => ({ ...change, lines: change.lines ?? counts.get(change.path) ?? null }))
}
