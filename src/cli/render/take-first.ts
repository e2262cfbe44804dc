/** The first items of a stream, and no more of it than that; all of them without a limit. */
export async function* takeFirst<Item>(items: AsyncIterable<Item>, limit?: number): AsyncGenerator<Item> {
  if (limit === 0) return
  let count = 0
  for await (const item of items) {
    yield item
    if (++count === limit) return
  }
}
