/** Largest `limit` of a list. A larger one is EINVAL. */
export const MAX_PAGE_ITEMS = 500

/** Selects one page of a list. */
export interface PageParams {
  /** Items at most; 100 when absent. */
  readonly limit?: number
  /** `next` of the page before; the first page when absent. */
  readonly cursor?: string
}

/** One page of a list. */
export interface Page<Item> {
  readonly items: readonly Item[]
  /** Cursor of the next page; null at the end. */
  readonly next: string | null
  /** Number of all items, where the server knows it. */
  readonly total?: number
}
