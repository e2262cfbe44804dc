import { setImmediate as nextTurn } from 'node:timers/promises'
import { describe, expect, it } from 'vitest'
import { MemorySessionRegistry, type SessionRegistry } from './session-registry.ts'
import { StoreSession } from './store-session.ts'

/** Answers in a later turn, as a registry on another machine does. */
function delay(registry: MemorySessionRegistry): SessionRegistry {
  const later = async <T>(call: () => T): Promise<T> => {
    await nextTurn()
    return call()
  }
  return {
    answerIntervalMs: 60_000,
    publish: (id, text) => later(() => registry.publish(id, text)),
    remove: (id) => later(() => registry.remove(id)),
    listIds: () => later(() => registry.listIds()),
    listEntries: () => later(() => registry.listEntries()),
  }
}

describe.each([
  ['at once', (registry: MemorySessionRegistry) => registry],
  ['later', delay],
])('a session whose registry answers %s', (_, open) => {
  const holdTree = async () => {
    const registry = new MemorySessionRegistry()
    const session = new StoreSession(open(registry))
    const hold = session.hold({ listStoredRoots: () => [7] })
    // The entry is there when this is answered.
    expect(await session.hasLostHolds()).toBe(false)
    return { registry, session, hold }
  }

  it('has lost its holds if a collection removed its entry', async () => {
    const { registry, session, hold } = await holdTree()
    registry.remove(session.id)
    expect(await session.hasLostHolds()).toBe(true)
    hold.release()
    await session.close()
  })

  it('has lost them also if it publishes another entry meanwhile', async () => {
    const { registry, session, hold } = await holdTree()
    registry.remove(session.id)
    // Another hold is published at once.
    const other = session.hold({ listStoredRoots: () => [8] })
    expect(await session.hasLostHolds()).toBe(true)
    other.release()
    hold.release()
    expect(await session.hasLostHolds()).toBe(false)
    await session.close()
  })
})
