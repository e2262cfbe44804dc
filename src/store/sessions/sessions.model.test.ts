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
  readonly board: MemorySessionRegistry
  session: StoreSession

  constructor(board: MemorySessionRegistry) {
    this.board = board
    this.session = new StoreSession(board)
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

  /** Its entry stays on the board, as that of a process nobody can ask for. */
  crash(): void {
    const { id } = this.session
    const entry = this.board.listEntries().find((each) => each.id === id)
    void this.session.close()
    if (entry !== undefined) this.board.publish(over(id), entry.text)
    this.holds.splice(0)
    this.session = new StoreSession(this.board)
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
        const board = new MemorySessionRegistry()
        const openers = Array.from({ length: SESSIONS }, () => new Opener(board))
        for (const { kind, session, root } of [...steps, { kind: 'collect', session: 0, root: 0 } as const]) {
          const opener = openers[session] ?? new Opener(board)
          if (kind === 'hold') opener.hold(root)
          else if (kind === 'release') opener.release(root)
          else if (kind === 'upload') opener.upload()
          else if (kind === 'crash') opener.crash()
          else {
            const asked = await querySessions(board, { own: opener.session.id })
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
        expect(board.listIds()).toEqual([])
      }),
      { numRuns: 40 },
    )
  })

  it('that do not answer are taken from the board, and know what they may have lost', async () => {
    const board = new MemorySessionRegistry()
    const session = new StoreSession(board)
    session.beginRead()
    const held = { listStoredRoots: () => [7] }
    const hold = session.hold(held)
    board.publish(
      session.id,
      JSON.stringify({ isBusy: true, answered: [], roots: [], blobs: [], uploads: 0 }),
    )
    const asking = querySessions(board, { own: '', timeoutMs: -1 })
    expect((await asking).ids.size).toBe(0)
    expect(await session.hasLostHolds()).toBe(true)
    hold.release()
    expect(await session.hasLostHolds()).toBe(false)
    await session.close()
  })
})
