import { describe, expect, it } from 'vitest'
import { DelayedEngine, MemoryEngine, StoreHome } from '../../store/index.ts'
import { readFile, readText } from '../../vfs/index.ts'
import { Home, type Vault } from './index.ts'

const pathsOf = (vault: Vault) => Array.fromAsync(vault.walk('/'), ({ path }) => path)

/** An engine with a home on it that nobody has in memory. */
async function stored(files: number): Promise<MemoryEngine> {
  const engine = new MemoryEngine()
  const home = new Home(new StoreHome(engine))
  const vault = await home.createVault('base')
  for (let file = 0; file < files; file++) await vault.write(`/d${file % 9}/f${file}`, `${file}`)
  await home.close()
  return engine
}

const freshness = [
  { name: 'that asks before each read', isNotified: false },
  { name: 'that is notified of changes', isNotified: true },
]

describe.each(freshness)('a remote home $name', ({ isNotified }) => {
  const far = (engine: MemoryEngine) => new Home(new StoreHome(new DelayedEngine(engine, { isNotified })))
  const newVault = async () => far(new MemoryEngine()).createVault('base')

  it('reads, lists and changes files that are not in memory', async () => {
    const home = far(await stored(1000))
    const vault = await home.vault('base')
    expect(await readText(vault, '/d5/f500')).toBe('500')
    expect((await pathsOf(vault)).length).toBe(1000)
    await vault.rename('/d1', '/e')
    await vault.append('/d2/f2', ' and on')
    await vault.remove('/d3', { recursive: true })
    await vault.write('/large', new Uint8Array(200_000).fill(7))
    const again = await far(new MemoryEngine()).createVault('other')
    expect(await pathsOf(again)).toEqual([])
    expect(await readText(vault, '/d2/f2')).toBe('2 and on')
    expect((await readFile(vault, '/large')).every((byte) => byte === 7)).toBe(true)
    expect((await pathsOf(vault)).length).toBe(1000 - 111 + 1)
    expect((await home.fsck()).damaged).toEqual([])
  })

  it('runs many concurrent operations in the order they were issued', async () => {
    const vault = await newVault()
    const work = Array.from({ length: 300 }, (_, i) => vault.append('/log', `${i}\n`))
    await Promise.all(work)
    const lines = (await readText(vault, '/log')).trimEnd().split('\n')
    expect(lines).toEqual(Array.from({ length: 300 }, (_, i) => `${i}`))
  })

  it('loses nothing of two concurrent appends', async () => {
    const engine = new MemoryEngine()
    const [one, other] = [far(engine), far(engine)]
    const mine = await one.createVault('base')
    const theirs = await other.vault('base')
    const work = Array.from({ length: 200 }, (_, i) =>
      (i % 2 === 0 ? mine : theirs).append('/log', `line ${i}\n`),
    )
    await Promise.all(work)
    const lines = (await readText(mine, '/log')).trimEnd().split('\n')
    expect(lines.length).toBe(200)
    expect(new Set(lines).size).toBe(200)
    expect(await readText(theirs, '/log')).toBe(await readText(mine, '/log'))
    expect((await one.fsck()).damaged).toEqual([])
  })

  it('lets exactly one of two compare-and-swap writes win, repeatedly', async () => {
    const engine = new MemoryEngine()
    const vaults = [await far(engine).createVault('base'), await far(engine).vault('base')] as const
    await vaults[0].write('/board', '0')
    for (let round = 0; round < 10; round++) {
      const ifMatch = await vaults[0].hash('/board')
      const outcomes = await Promise.allSettled(
        vaults.map((vault, index) => vault.write('/board', `${round} ${index}`, { ifMatch })),
      )
      expect(outcomes.map(({ status }) => status).sort()).toEqual(['fulfilled', 'rejected'])
      expect(await readText(vaults[0], '/board')).toBe(await readText(vaults[1], '/board'))
    }
  })

  it('keeps versions, tags, metadata and quota', async () => {
    const vault = await newVault()
    await vault.write('/f', 'one\n', {}, { trace: 'a' })
    await vault.append('/f', 'two\n', { trace: 'b' })
    await vault.write('/g', 'x'.repeat(50_000))
    await vault.append('/g', 'y')
    const versions = await Array.fromAsync(vault.versions('/g'))
    expect(versions.map(({ size }) => size)).toEqual([50_001, 50_000])
    await vault.revert('/g', versions[1]?.version ?? '')
    expect((await readFile(vault, '/g')).length).toBe(50_000)
    expect((await vault.blame('/f')).map(({ text, trace }) => `${text} ${trace}`)).toEqual(['one a', 'two b'])
    await vault.tags.add('/f', 'tag')
    await vault.meta.set('/f', 'key', 'value')
    expect(await vault.tags.find('tag')).toEqual(['/f'])
    expect(await vault.meta.all('/f')).toEqual({ key: 'value' })
    await vault.quota.set({ bytes: 50_010 })
    await expect(vault.append('/f', 'three')).rejects.toMatchObject({ code: 'ENOSPC' })
    const outcomes = await Promise.allSettled([
      vault.append('/f', '12'),
      vault.append('/f', '345'),
      vault.write('/h', 'x'.repeat(100)),
    ])
    expect(outcomes.map(({ status }) => status)).toEqual(['fulfilled', 'rejected', 'rejected'])
    expect(await vault.quota.usage()).toMatchObject({ files: 2, bytes: 50_010 })
  })

  it('checkpoints, restores, compares, and shows the history as paths', async () => {
    const vault = await newVault()
    await vault.write('/f', 'one')
    await vault.checkpoint('then')
    await vault.write('/f', 'two')
    expect(await readText(vault, '/.coppice/at/then/f')).toBe('one')
    expect(await readText(vault, '/.coppice/diff')).toBe('modified\t/f\n')
    expect(await Array.fromAsync(vault.diff('then'), ({ kind, path }) => `${kind} ${path}`)).toEqual([
      'modified /f',
    ])
    await vault.restore('then')
    expect(await readText(vault, '/f')).toBe('one')
    expect((await Array.fromAsync(vault.changes())).map(({ op }) => op)).toEqual([
      'write',
      'write',
      'restore',
    ])
    const file = await vault.open('/f', { write: true })
    await file.write(1, Buffer.from('NE'))
    expect(await readText(vault, '/f')).toBe('oNE')
  })

  it('lets an in-memory fork read and change files that this process has not read', async () => {
    const vault = await far(await stored(1000)).vault('base')
    const fork = vault.fork()
    await fork.write('/d3/new', 'x')
    await Promise.all([fork.remove('/d4', { recursive: true }), fork.write('/d5/f5', 'changed')])
    expect(await readText(fork, '/d5/f5')).toBe('changed')
    expect(await fork.exists('/d4/f4')).toBe(false)
    expect(await readText(fork, '/d3/f3')).toBe('3')
    expect(await readText(vault, '/d5/f5')).toBe('5')
    expect(await vault.exists('/d3/new')).toBe(false)
  })

  it('forks, merges and races', async () => {
    const home = far(await stored(300))
    const base = await home.vault('base')
    const task = await home.fork('base', 'task')
    await task.write('/d1/f1', 'task')
    await base.remove('/d2/f2')
    await home.merge('task', 'base')
    expect(await readText(base, '/d1/f1')).toBe('task')
    await base.checkpoint('then')
    await home.fork('base', 'past', { at: 'then' })
    const race = await home.race('base', 2, (vault, index) => vault.write('/lane', `${index}`))
    await race.keep(1)
    expect(await readText(base, '/lane')).toBe('1')
    expect((await home.fsck()).damaged).toEqual([])
  })

  it('lets two processes flush pages while they write', async () => {
    const engine = new MemoryEngine()
    const vaults = [await far(engine).createVault('base'), await far(engine).vault('base')]
    const work: Promise<void>[] = []
    for (let round = 0; round < 12; round++) {
      for (const [index, vault] of vaults.entries()) {
        work.push(vault.append('/log', `${index} ${round}\n`))
        if (round % 3 === index) work.push(vault.close())
      }
    }
    await Promise.all(work)
    const fresh = await new Home(new StoreHome(engine)).vault('base')
    expect(new Set((await readText(fresh, '/log')).trimEnd().split('\n')).size).toBe(24)
  })

  it('collects garbage while two write', async () => {
    const engine = new MemoryEngine()
    const [one, other] = [far(engine), far(engine)]
    const mine = await one.createVault('base')
    const theirs = await other.vault('base')
    const expected = new Map<string, number>()
    for (let round = 0; round < 6; round++) {
      const collection = one.gc(round % 2 === 0 ? {} : { keepHistory: new Date(Date.now() + 1) })
      const work = [mine, theirs].map(async (vault, index) => {
        for (let file = 0; file < 6; file++) {
          const [path, fill] = [`/v${index}/f${file}`, (round * 7 + file) % 5]
          await vault.write(path, new Uint8Array(5000).fill(fill))
          expected.set(path, fill)
        }
        await vault.append('/log', `${round} ${index}\n`)
      })
      await Promise.all([collection, ...work])
    }
    for (const [path, fill] of expected)
      expect([path, (await readFile(theirs, path))[0]]).toEqual([path, fill])
    expect((await readText(mine, '/log')).trimEnd().split('\n').length).toBe(12)
    expect((await one.fsck()).damaged).toEqual([])
    const fresh = await new Home(new StoreHome(engine)).vault('base')
    expect((await readText(fresh, '/log')).trimEnd().split('\n').length).toBe(12)
  })
})
