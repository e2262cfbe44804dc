import type { DirEntry } from './file-system.ts'

/**
 * Merges two listings of one directory in order. A name in both is taken from `winning`. Streams `others`, so that it
 * stays lazy over an infinite directory.
 */
export async function* mergeEntries(
  winning: readonly DirEntry[],
  others: AsyncIterable<DirEntry>,
): AsyncGenerator<DirEntry> {
  const winningNames = new Set(winning.map(({ name }) => name))
  const pending = winning.toSorted((a, b) => (a.name < b.name ? 1 : -1))
  for await (const entry of others) {
    for (let next = pending.at(-1); next && next.name < entry.name; next = pending.at(-1)) {
      pending.pop()
      yield next
    }
    if (!winningNames.has(entry.name)) yield entry
  }
  yield* pending.reverse()
}
