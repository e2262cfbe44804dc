/** Yields the first items of a stream and reads no more of it; without a limit, yields all. */
export async function* takeFirst<Item>(items: AsyncIterable<Item>, limit?: number): AsyncGenerator<Item> {
  if (limit === 0) return
  let count = 0
  for await (const item of items) {
    yield item
    if (++count === limit) return
  }
}
