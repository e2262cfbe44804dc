import { MAX_PAGE_ITEMS, type Page, type PageParams } from '../../web-api/index.ts'

/** Time in which a first page and what belongs to it are read and drawn: the rest of a long list would slow that down. */
const SETTLE_MS = 250

export interface ReadPagesOptions<Item> {
  /** Reading ends with the page that has this item. */
  readonly maxItems: number
  /** Items of the first page, where a person waits for it. The others then follow when it is shown. */
  readonly firstItems?: number
  /** Called after each page with all items so far. */
  readonly onPage?: (items: readonly Item[], page: Page<Item>) => void
}

/** Reads pages of a list until its end, or until there are enough items. */
export async function readPages<Item>(
  read: (params: PageParams) => Promise<Page<Item>>,
  { maxItems, firstItems, onPage }: ReadPagesOptions<Item>,
): Promise<readonly Item[]> {
  const items: Item[] = []
  let params: PageParams | undefined = { limit: firstItems ?? MAX_PAGE_ITEMS }
  while (params !== undefined && items.length < maxItems) {
    const isFirst: boolean = items.length === 0
    const page = await read(params)
    items.push(...page.items)
    onPage?.(items, page)
    params = page.next === null ? undefined : { limit: MAX_PAGE_ITEMS, cursor: page.next }
    if (isFirst && firstItems !== undefined && params !== undefined) await delay(SETTLE_MS)
  }
  return items
}

function delay(ms: number): Promise<void> {
  return new Promise((resolve) => setTimeout(resolve, ms))
}
