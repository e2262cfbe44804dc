import fc from 'fast-check'
import { describe, expect, it } from 'vitest'
import { querySessions } from './query-sessions.ts'
import { MemorySessionRegistry } from './session-registry.ts'
import { type Hold, StoreSession } from './store-session.ts'

const SESSIONS = 3
const ROOTS = 6

type Step =
  | { readonly kind: 'hold' | 'release' | 'upload'; readonly session: number; readonly root: number }
  | { readonly kind: 'crash' | 'collect'; readonly session: number; readonly root: number }

/** A session that answers when it is asked, until it crashes. */
class Opener {
  readonly holds: { root: number; hold: Hold; held: object }[] = []
  readonly registry: MemorySessionRegistry
  session: StoreSession

  constructor(registry: MemorySessionRegistry) {
    this.registry = registry
    this.session = new StoreSession(registry)
  }

  hold(root: number): void {
    this.session.beginRead()
    const held = { listStoredRoots: () => [root] }
    this.holds.push({ root, hold: this.session.hold(held), held })
  }

  upload(): void {
    const held = { isUpload: true }
    this.holds.push({ root: -1, hold: this.session.hold(held), held })
  }

  release(root: number): void {
    const index = this.holds.findIndex((each) => each.root === root)
    this.holds.splice(index === -1 ? this.holds.length : index, 1)[0]?.hold.release()
  }

  /** Its entry stays in the registry, as that of a process nobody can query. */
  crash(): void {
    const { id } = this.session
    const entry = this.registry.listEntries().find((each) => each.id === id)
    void this.session.close()
    if (entry !== undefined) this.registry.publish(over(id), entry.text)
    this.holds.splice(0)
    this.session = new StoreSession(this.registry)
  }
}

/** The mark of a process of an earlier boot of this machine. */
function over(id: string): string {
  const boot = id.slice(8, 14) === '000000' ? '111111' : '000000'
  return id.slice(0, 8) + boot + id.slice(14)
}

describe('sessions', () => {
  it('show a collection all they hold, whatever came before, and nothing of those that are over', async () => {
    const step: fc.Arbitrary<Step> = fc.record({
      kind: fc.constantFrom('hold', 'hold', 'release', 'upload', 'crash', 'collect'),
      session: fc.nat(SESSIONS - 1),
      root: fc.nat(ROOTS - 1),
    })
    await fc.assert(
      fc.asyncProperty(fc.array(step, { maxLength: 25 }), async (steps) => {
        const registry = new MemorySessionRegistry()
        const openers = Array.from({ length: SESSIONS }, () => new Opener(registry))
        for (const { kind, session, root } of [...steps, { kind: 'collect', session: 0, root: 0 } as const]) {
          const opener = openers[session] ?? new Opener(registry)
          if (kind === 'hold') opener.hold(root)
          else if (kind === 'release') opener.release(root)
          else if (kind === 'upload') opener.upload()
          else if (kind === 'crash') opener.crash()
          else {
            const asked = await querySessions(registry, { own: opener.session.id })
            const others = openers.filter((each) => each !== opener).flatMap(({ holds }) => holds)
            const roots = new Set(others.flatMap((hold) => (hold.root < 0 ? [] : [hold.root])))
            expect(new Set(asked.roots)).toEqual(roots)
            expect(asked.uploads).toBe(others.filter((hold) => hold.root < 0).length)
            const own = opener.session.listHeldItems().roots
            expect(new Set(own)).toEqual(
              new Set(opener.holds.flatMap(({ root }) => (root < 0 ? [] : [root]))),
            )
          }
        }
        for (const { session } of openers) await session.close()
        expect(registry.listIds()).toEqual([])
      }),
      { numRuns: 40 },
    )
  })

  it('that do not answer lose their entry, and know what they may have lost', async () => {
    const registry = new MemorySessionRegistry()
    const session = new StoreSession(registry)
    session.beginRead()
    const held = { listStoredRoots: () => [7] }
    const hold = session.hold(held)
    registry.publish(
      session.id,
      JSON.stringify({ isBusy: true, answered: [], roots: [], blobs: [], uploads: 0 }),
    )
    const asking = querySessions(registry, { own: '', timeoutMs: -1 })
    expect((await asking).ids.size).toBe(0)
    expect(await session.hasLostHolds()).toBe(true)
    hold.release()
    expect(await session.hasLostHolds()).toBe(false)
    await session.close()
  })
})
