import { queryObjects } from 'node:v8'
import { describe, expect, it } from 'vitest'
import { StoreSession } from './store-session.ts'

describe('a session', () => {
  it('forgets the holds of objects that nobody has any more, though no collection queries it', async () => {
    const before = await countReferences()
    const session = new StoreSession(undefined)
    const kept = { listStoredRoots: () => [1] }
    session.hold(kept)
    for (let root = 0; root < 1000; root++) session.hold({ listStoredRoots: () => [root] })
    await expect.poll(async () => (await countReferences()) - before, { timeout: 30_000 }).toBeLessThan(100)
    expect(session.listHeldItems().roots).toEqual(kept.listStoredRoots())
  })
})

/** Counts weak references; counting collects garbage, but not what the current turn of the event loop has used. */
async function countReferences(): Promise<number> {
  await new Promise((resolve) => setImmediate(resolve))
  return queryObjects(WeakRef, { format: 'count' })
}
