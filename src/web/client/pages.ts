import { MAX_PAGE_ITEMS, type Page, type PageParams } from '../../web-api/index.ts'

/**
 * Reads pages of a list until its end, or until there are `maxItems`. Calls `onItems` after each page with all so far.
 */
export async function readPages<Item>(
  read: (params: PageParams) => Promise<Page<Item>>,
  maxItems: number,
  onItems: (items: readonly Item[], isComplete: boolean) => void = () => {},
): Promise<readonly Item[]> {
  const items: Item[] = []
  let cursor: string | undefined
  do {
    const page = await read({ limit: MAX_PAGE_ITEMS, ...(cursor !== undefined && { cursor }) })
    items.push(...page.items)
    cursor = page.next ?? undefined
    onItems(items, cursor === undefined)
  } while (cursor !== undefined && items.length < maxItems)
  return items
}
