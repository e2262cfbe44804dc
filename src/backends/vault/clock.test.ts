import fc from 'fast-check'
import { afterEach, beforeEach, describe, expect, it, vi } from 'vitest'
import { type Checkpoint, encodeChecksummedJson, MemoryEngine, StoreHome } from '../../store/index.ts'
import { isVfsError, readText } from '../../vfs/index.ts'
import { Home, openHome, type Vault } from './index.ts'

const NOON = Date.UTC(2026, 5, 15, 12)
const HOUR = 3_600_000

beforeEach(() => {
  vi.useFakeTimers({ toFake: ['Date'], now: NOON })
})
afterEach(() => {
  vi.useRealTimers()
})

describe('a clock that is set back', () => {
  it('restores nothing that was merged and then removed', async () => {
    await using home = await openHome({ engine: 'memory' })
    const base = await home.createVault('base')
    const fork = await home.fork('base', 'fork')
    await fork.write('/b', 'of the fork')
    vi.setSystemTime(NOON - HOUR)
    await home.merge('fork', 'base')
    await base.remove('/b')
    vi.setSystemTime(NOON + HOUR)
    await fork.write('/c', 'later')
    await home.merge('fork', 'base')
    expect(await contentOf(base)).toEqual({ '/c': 'later' })
  })

  it('does not make a fork lose what it took from its base', async () => {
    await using home = await openHome({ engine: 'memory' })
    const base = await home.createVault('base')
    const fork = await home.fork('base', 'fork')
    await fork.write('/b', 'of the fork')
    await home.merge('fork', 'base')
    await base.write('/a', 'of the base')
    vi.setSystemTime(NOON - HOUR)
    await home.merge('base', 'fork')
    await fork.remove('/a')
    vi.setSystemTime(NOON + HOUR)
    await base.write('/c', 'later')
    await home.merge('base', 'fork')
    expect(await contentOf(fork)).toEqual({ '/b': 'of the fork', '/c': 'later' })
  })

  it('keeps checkpoints in the order of their creation', async () => {
    await using home = await openHome({ engine: 'memory' })
    const vault = await home.createVault('base')
    for (const [index, name] of ['first', 'second', 'third', 'fourth'].entries()) {
      vi.setSystemTime(NOON - index * HOUR)
      if (index % 2 === 0) await vault.write('/f', name)
      await vault.checkpoint(name)
    }
    await vault.removeCheckpoint('second')
    await vault.checkpoint('second')
    expect((await vault.checkpoints()).map(({ name }) => name)).toEqual([
      'first',
      'third',
      'fourth',
      'second',
    ])
  })

  it('does not affect the contents of vaults, whenever and however often it is set', async () => {
    const step = fc.record({
      kind: fc.constantFrom('write', 'remove', 'merge', 'checkpoint', 'restore'),
      vault: fc.integer({ min: 0, max: 2 }),
      other: fc.integer({ min: 0, max: 2 }),
      file: fc.integer({ min: 0, max: 3 }),
      clock: fc.integer({ min: -1000, max: 1000 }),
    })
    await fc.assert(
      fc.asyncProperty(fc.array(step, { minLength: 6, maxLength: 25 }), async (steps) => {
        const steady = steps.map((each, index) => ({ ...each, clock: index }))
        expect(await play(steps)).toEqual(await play(steady))
      }),
      { numRuns: 60 },
    )
  })
})

describe('a home of a version that recorded only times', () => {
  it('is merged and listed as before, and by rows from then on', async () => {
    const engine = new MemoryEngine()
    const store = new StoreHome(engine)
    await using home = new Home(store)
    const base = await home.createVault('base')
    const fork = await home.fork('base', 'fork')
    await fork.write('/b', 'of the fork')
    const [from, into] = [await store.openVault('fork'), await store.openVault('base')]
    const root = await from.flushPages()
    const operations = [
      { op: 'write', path: '/b', content: contentFor('of the fork'), parents: true } as const,
    ]
    vi.setSystemTime(NOON - HOUR)
    await into.submit(() => ({
      op: 'merge',
      path: '/',
      from: 'fork',
      source: from.head.id,
      root,
      operations,
    }))
    await base.remove('/b')
    await fork.write('/c', 'later')
    await home.merge('fork', 'base')
    expect(await contentOf(base)).toEqual({ '/c': 'later' })

    await base.checkpoint('old')
    const key = `checkpoint/${into.head.id}/old`
    const { order: _, ...old } = await recordAt(store, key)
    engine.commit({ records: [{ key, bytes: encodeChecksummedJson(old) }] })
    vi.setSystemTime(NOON - 2 * HOUR)
    await base.checkpoint('new')
    expect((await base.checkpoints()).map(({ name }) => name)).toEqual(['old', 'new'])
    expect((await home.fsck()).damaged).toEqual([])
  })
})

interface Step {
  readonly kind: string
  readonly vault: number
  readonly other: number
  readonly file: number
  readonly clock: number
}

/** A base, a fork of it and a fork of that, after some steps: what each holds, and its checkpoints. */
async function play(steps: readonly Step[]): Promise<unknown> {
  await using home = await openHome({ engine: 'memory' })
  vi.setSystemTime(NOON)
  const vaults = [await home.createVault('v0')]
  await vaults[0]?.write('/f0', 'start\n')
  vaults.push(await home.fork('v0', 'v1'), await home.fork('v1', 'v2'))
  for (const [index, { kind, vault, other, file, clock }] of steps.entries()) {
    vi.setSystemTime(NOON + clock * 1000)
    const [it, path] = [vaults[vault], `/f${file}`]
    try {
      if (kind === 'write') await it?.write(path, `${index}\n`)
      else if (kind === 'remove') await it?.remove(path)
      else if (kind === 'merge') await home.merge(`v${vault}`, `v${other}`, { onConflict: 'theirs' })
      else if (kind === 'checkpoint') await it?.checkpoint(`c${index}`)
      else await it?.restore((await it.checkpoints())[file]?.name ?? 'none')
    } catch (error) {
      if (!isVfsError(error)) throw error
    }
  }
  return await Promise.all(
    vaults.map(async (vault) => [
      await contentOf(vault),
      (await vault.checkpoints()).map(({ name }) => name),
    ]),
  )
}

async function contentOf(vault: Vault): Promise<Record<string, string>> {
  const files: [string, string][] = []
  for await (const { path } of vault.walk('/')) files.push([path, await readText(vault, path)])
  return Object.fromEntries(files)
}

async function recordAt({ reader }: StoreHome, key: string): Promise<Checkpoint> {
  const record = await reader.run(() => reader.readRecord(key))
  return JSON.parse(Buffer.from(record ?? []).toString('utf8', 4))
}

function contentFor(text: string): { size: number; inline: string } {
  return { size: text.length, inline: Buffer.from(text).toString('base64') }
}
