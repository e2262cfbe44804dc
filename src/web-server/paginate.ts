import { VfsError } from '../vfs/index.ts'
import type { Page, PageParams } from '../web-api/index.ts'

const DEFAULT_LIMIT = 100

/** Returns one page of a list. The cursor is the number of items before it. */
export function paginate<Item>(
  items: readonly Item[],
  { limit = DEFAULT_LIMIT, cursor }: PageParams,
): Page<Item> {
  const from = parseOffset(cursor)
  const page = items.slice(from, from + limit)
  const end = from + page.length
  return { items: page, next: end < items.length ? String(end) : null, total: items.length }
}

/** Returns one page of a stream, of which it reads all items before the page and one after it. */
export async function paginateStream<Item>(
  items: AsyncIterable<Item>,
  { limit = DEFAULT_LIMIT, cursor }: PageParams,
): Promise<Page<Item>> {
  const from = parseOffset(cursor)
  const page: Item[] = []
  let count = 0
  for await (const item of items) {
    if (page.length === limit) return { items: page, next: String(count) }
    if (count++ >= from) page.push(item)
  }
  return { items: page, next: null }
}

/** Maps the items of a page. */
export async function mapPage<Item, Result>(
  { items, ...page }: Page<Item>,
  map: (item: Item) => Result | Promise<Result>,
): Promise<Page<Result>> {
  const mapped: Result[] = []
  for (const item of items) mapped.push(await map(item))
  return { ...page, items: mapped }
}

function parseOffset(cursor: string | undefined): number {
  if (cursor === undefined) return 0
  if (/^(?:0|[1-9]\d{0,9})$/.test(cursor)) return Number(cursor)
  throw new VfsError('EINVAL', '/', { op: 'request', detail: `'${cursor}' is not a cursor of this list` })
}
