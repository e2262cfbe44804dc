import fc from 'fast-check'
import { describe, expect, it } from 'vitest'
import { isVfsError, readText } from '../../../vfs/index.ts'
import { type Home, openHome, type Vault } from '../index.ts'
import { type Exchanged, fetchVault, pushVault } from './index.ts'

/** A home that exchanges the vault `base` with a hub. */
class Member {
  readonly home: Home
  readonly #exchanged: Exchanged

  constructor(home: Home, hub: Home) {
    this.home = home
    this.#exchanged = { home, vault: 'base', other: hub, otherVault: 'base', location: 'hub' }
  }

  static async open(hub: Home): Promise<Member> {
    return new Member(await openHome({ engine: 'memory' }), hub)
  }

  get vault(): Promise<Vault> {
    return this.home.vault('base')
  }

  push() {
    return pushVault(this.#exchanged)
  }

  async pull(): Promise<void> {
    const { tracking, isNew } = await fetchVault(this.#exchanged)
    if (!isNew) await this.home.merge(tracking, 'base', { onConflict: 'theirs' })
  }

  /** Pushes, after a pull if the hub has news. */
  async exchange(): Promise<void> {
    try {
      await this.push()
    } catch (error) {
      if (!isVfsError(error, 'ECONFLICT')) throw error
      await this.pull()
      await this.push()
    }
  }
}

async function readAll(home: Home): Promise<Record<string, string>> {
  const vault = await home.vault('base')
  const files = await Array.fromAsync(vault.walk('/'), ({ path }) => path)
  return Object.fromEntries(await Promise.all(files.map(async (path) => [path, await readText(vault, path)])))
}

/** A hub and a member that has pushed one file to it. */
async function start(): Promise<{ hub: Home; one: Member }> {
  const hub = await openHome({ engine: 'memory' })
  const one = await Member.open(hub)
  const vault = await one.home.createVault('base')
  await vault.write('/plan.md', 'one\ntwo\nthree\nfour\nfive\n')
  await one.push()
  return { hub, one }
}

describe('push and pull', () => {
  it('bring a vault to another home and back', async () => {
    const { hub, one } = await start()
    const two = await Member.open(hub)
    await two.pull()
    expect(await two.home.info('base')).not.toHaveProperty('from')
    await (await two.vault).write('/answer.md', '42')
    expect(await two.push()).toMatchObject({ isNew: false, changes: [{ kind: 'added', path: '/answer.md' }] })
    await one.pull()
    expect(await readAll(one.home)).toEqual(await readAll(two.home))
    expect(await readAll(hub)).toEqual(await readAll(one.home))
  })

  it('merge what both homes changed, by lines', async () => {
    const { hub, one } = await start()
    const two = await Member.open(hub)
    await two.pull()
    await (await one.vault).write('/plan.md', 'ONE\ntwo\nthree\nfour\nfive\n')
    await (await two.vault).write('/plan.md', 'one\ntwo\nthree\nfour\nFIVE\n')
    await one.push()
    await expect(two.push()).rejects.toMatchObject({ code: 'ECONFLICT' })
    expect(await readText(await hub.vault('base'), '/plan.md')).toBe('ONE\ntwo\nthree\nfour\nfive\n')
    await two.pull()
    await two.push()
    expect(await readText(await hub.vault('base'), '/plan.md')).toBe('ONE\ntwo\nthree\nfour\nFIVE\n')
  })

  it('send nothing if nothing changed', async () => {
    const { one, hub } = await start()
    const before = (await (await hub.vault('base')).checkpoints()).map(({ name }) => name)
    expect(await one.push()).toEqual({ isNew: false, changes: [] })
    await one.pull()
    expect((await (await hub.vault('base')).checkpoints()).map(({ name }) => name)).toEqual(before)
  })

  it('leave one checkpoint for each member on the hub, however often they exchange', async () => {
    const { hub, one } = await start()
    const two = await Member.open(hub)
    await two.pull()
    for (let round = 0; round < 5; round++) {
      await (await one.vault).write(`/one-${round}`, 'x')
      await one.exchange()
      await (await two.vault).write(`/two-${round}`, 'x')
      await two.exchange()
    }
    expect((await (await hub.vault('base')).checkpoints()).length).toBe(2)
  })

  it('refuse vaults of one name that have nothing in common', async () => {
    const { hub } = await start()
    const stranger = await Member.open(hub)
    await (await stranger.home.createVault('base')).write('/mine', 'x')
    await expect(stranger.push()).rejects.toMatchObject({ code: 'EEXIST' })
    await expect(stranger.pull()).rejects.toMatchObject({ code: 'EEXIST' })
    expect(await readAll(stranger.home)).toEqual({ '/mine': 'x' })
  })

  it('recover from a push that ended before the other home had it', async () => {
    const { hub, one } = await start()
    await (await one.vault).write('/new', 'x')
    const cut = new Member(one.home, failing(hub))
    await expect(cut.push()).rejects.toThrow('cut off')
    expect(await (await hub.vault('base')).exists('/new')).toBe(false)
    await one.push()
    expect(await readText(await hub.vault('base'), '/new')).toBe('x')
  })

  it('make all homes equal, whatever happened, and lose nothing', async () => {
    const member = fc.constantFrom(0, 1, 2)
    const step = fc.oneof(
      fc.record({ op: fc.constant('write' as const), member, file: fc.nat(3) }),
      fc.record({ op: fc.constant('remove' as const), member, file: fc.nat(3) }),
      fc.record({ op: fc.constant('move' as const), member, file: fc.nat(3) }),
      fc.record({
        op: fc.constantFrom('push' as const, 'pull' as const, 'cut' as const),
        member,
        file: fc.constant(0),
      }),
    )
    await fc.assert(
      fc.asyncProperty(fc.array(step, { maxLength: 30 }), async (steps) => {
        const { hub, one } = await start()
        const members = [one, await Member.open(hub), await Member.open(hub)]
        for (const other of members) await other.pull()
        const expected: Record<string, string> = await readAll(hub)
        for (const [number, { op, member, file }] of steps.entries())
          await play(members, hub, expected, { op, member, file, number })
        for (const each of [...members, ...members]) await each.exchange()
        for (const each of members) await each.pull()
        for (const each of members) expect(await readAll(each.home)).toEqual(expected)
        expect(await readAll(hub)).toEqual(expected)
      }),
      { numRuns: 40 },
    )
  })
})

interface Played {
  readonly op: 'write' | 'remove' | 'move' | 'push' | 'pull' | 'cut'
  readonly member: number
  readonly file: number
  readonly number: number
}

/** Each member changes its own files only, so that the result does not depend on the order of exchanges. */
async function play(
  members: readonly Member[],
  hub: Home,
  expected: Record<string, string>,
  { op, member, file, number }: Played,
): Promise<void> {
  const actor = members[member]
  if (actor === undefined) return
  const vault = await actor.vault
  const [path, moved] = [`/${member}/${file}`, `/${member}/moved-${file}`]
  if (op === 'push') await actor.exchange()
  else if (op === 'pull') await actor.pull()
  else if (op === 'cut') await new Member(actor.home, failing(hub)).push().catch(() => {})
  else if (op === 'write') {
    await vault.write(path, `${number}`)
    expected[path] = `${number}`
  } else if (expected[path] !== undefined && op === 'remove') {
    await vault.remove(path)
    delete expected[path]
  } else if (expected[path] !== undefined) {
    await vault.rename(path, moved)
    expected[moved] = expected[path]
    delete expected[path]
  }
}

/** A home that ends the connection in the middle of what it receives. */
function failing(home: Home): Home {
  return new Proxy(home, {
    get: (target, name) => {
      if (name === 'receive') return () => Promise.reject(new Error('cut off'))
      const member = Reflect.get(target, name, target)
      return typeof member === 'function' ? member.bind(target) : member
    },
  })
}
