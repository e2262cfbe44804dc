import type { DirEntry } from './file-system.ts'

/**
 * Two listings of one directory as one: in order, each name once, `winning` over `others`.
 * Streams the others, so that it stays lazy over a directory without end.
 */
export async function* mergeEntries(
  winning: readonly DirEntry[],
  others: AsyncIterable<DirEntry>,
): AsyncGenerator<DirEntry> {
  const won = new Set(winning.map(({ name }) => name))
  const pending = winning.toSorted((a, b) => (a.name < b.name ? 1 : -1))
  for await (const entry of others) {
    for (let next = pending.at(-1); next && next.name < entry.name; next = pending.at(-1)) {
      pending.pop()
      yield next
    }
    if (!won.has(entry.name)) yield entry
  }
  yield* pending.reverse()
}
