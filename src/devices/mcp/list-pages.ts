import { VfsError } from '../../vfs/index.ts'

/** Limit of pages of one listing; further ones are left out. */
const MAX_PAGES = 100
/** Limit of all pages together, in characters of JSON. */
const MAX_CHARACTERS = 16 * 1024 * 1024

/** One page of a listing and the cursor of the next. */
export interface ListPage<Item> {
  readonly items: readonly Item[]
  readonly nextCursor: string | undefined
}

/**
 * Returns the items of a listing, of at most `MAX_PAGES` pages. EIO if the server names the same next page twice in a
 * row, EFBIG beyond `MAX_CHARACTERS`.
 */
export async function listPages<Item>(
  path: string,
  ask: (cursor: { cursor?: string }) => Promise<ListPage<Item>>,
): Promise<Item[]> {
  const all: Item[] = []
  let characters = 0
  let cursor: string | undefined
  for (let page = 0; page < MAX_PAGES; page++) {
    const { items, nextCursor } = await ask(cursor === undefined ? {} : { cursor })
    characters += JSON.stringify(items).length
    if (characters > MAX_CHARACTERS) {
      const detail = `the list of the server exceeds ${MAX_CHARACTERS} characters`
      throw new VfsError('EFBIG', path, { op: 'mcp', detail })
    }
    all.push(...items)
    if (nextCursor === undefined) break
    if (nextCursor === cursor) {
      throw new VfsError('EIO', path, { op: 'mcp', detail: 'the server repeats the same page of its list' })
    }
    cursor = nextCursor
  }
  return all
}
