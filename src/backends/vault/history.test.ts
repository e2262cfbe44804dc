import { mkdirSync, mkdtempSync, rmSync } from 'node:fs'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import fc from 'fast-check'
import { afterAll, describe, expect, it } from 'vitest'
import { type Engine, LevelEngine, LmdbEngine, SqliteEngine, StoreHome } from '../../store/index.ts'
import {
  append,
  copy,
  diff,
  type FileSystem,
  isVfsError,
  MemoryFs,
  move,
  type PathChange,
  readFile,
  readText,
} from '../../vfs/index.ts'
import { Home, type Vault } from './index.ts'

const scratch = mkdtempSync(join(tmpdir(), 'coppice-history-'))
afterAll(() => rmSync(scratch, { recursive: true, force: true }))
let places = 0

type Open = (directory: string) => Engine | Promise<Engine>
const engines: Readonly<Record<string, Open>> = {
  sqlite: (directory) => new SqliteEngine({ file: join(directory, 'store.db') }),
  lmdb: (directory) => LmdbEngine.open({ directory: join(directory, 'store.lmdb') }),
  level: (directory) => LevelEngine.open({ directory: join(directory, 'store.level') }),
}

const names = ['base', 'one', 'two'] as const
const path = fc.constantFrom('/a', '/b', '/a/c', '/b/d', '/b/d/e')
const changes = ['write', 'append', 'mkdir', 'remove', 'move'] as const
const acts = [
  ...changes,
  'tag',
  'fork',
  'checkpoint',
  'forget',
  'restore',
  'merge',
  'delete',
  'collect',
  'wait',
] as const
const stepOf = <Act extends string>(...act: Act[]) =>
  fc.record({
    act: fc.constantFrom(...changes, ...changes, ...act),
    vault: fc.constantFrom(...names),
    other: fc.constantFrom(...names),
    path,
    to: path,
    content: fc
      .tuple(fc.constantFrom(0, 5, 300, 5000, 40_000), fc.constantFrom('x', 'y'))
      .map(([size, fill]) => fill.repeat(size)),
    /** Which of several homes does it, and whether a collection forgets the past. */
    coin: fc.boolean(),
  })
type Step =
  ReturnType<typeof stepOf<(typeof acts)[number] | 'reopen'>> extends fc.Arbitrary<infer T> ? T : never

/** Homes on one store and what it should hold: each vault and checkpoint as a file system in memory. */
class History {
  readonly #open: Open
  readonly #directory: string
  readonly #homes: { readonly home: Home; readonly engine: Engine }[] = []
  readonly #vaults = new Map<string, MemoryFs>()
  readonly #checkpoints = new Map<string, MemoryFs>()
  #collections: Promise<unknown>[] = []
  /** True if versions were forgotten: then the first in a list may be that of an earlier file at the path. */
  #hasForgotten = false

  private constructor(open: Open) {
    this.#open = open
    this.#directory = join(scratch, `home-${++places}`)
    mkdirSync(this.#directory)
  }

  static async begin(open: Open, homes: number): Promise<History> {
    const history = new History(open)
    for (let count = 0; count < homes; count++) await history.#openHome()
    await history.#create('base')
    return history
  }

  async take(step: Step): Promise<void> {
    const { act, vault: name, other, path, content, coin } = step
    if (act === 'reopen') return this.#reopen()
    if (act === 'collect') return this.#collect(coin)
    if (act === 'wait') return this.#wait()
    const home = this.#home(coin)
    const model = this.#vaults.get(name)
    if (model === undefined) return act === 'fork' ? this.#create(name) : undefined
    const vault = await home.vault(name)
    if (act === 'fork') await this.#fork(home, name, model, other)
    else if (act === 'checkpoint') await this.#checkpoint(vault, model)
    else if (act === 'forget') await this.#forget(vault)
    else if (act === 'restore') await this.#restore(vault)
    else if (act === 'merge') await this.#merge(home, name, other)
    else if (act === 'delete') await this.#delete(home, name)
    else if (act === 'tag')
      expect(await outcome(vault.tags.add(path, content.slice(0, 5) || 'tag'))).toBe(
        await outcome(model.stat(path)),
      )
    else {
      const run = (fs: FileSystem) => outcome(perform(fs, step))
      expect(await run(vault)).toBe(await run(model))
    }
  }

  /** Everything is as it should be: content, checkpoints, versions, tags, and the store itself. */
  async check(): Promise<void> {
    await this.#wait()
    for (const { home } of this.#homes) {
      expect(await home.vaults()).toEqual([...this.#vaults.keys()].sort())
      for (const [name, model] of this.#vaults) await expectSame(model, await home.vault(name))
      for (const [name, model] of this.#checkpoints)
        await expectSame(model, (await home.vault(name)).at('kept'))
      expect((await home.fsck()).damaged).toEqual([])
    }
    for (const name of this.#vaults.keys()) {
      const vault = await this.#home(true).vault(name)
      await expectVersions(vault, this.#hasForgotten)
      await expectTags(vault)
    }
  }

  /** Without vaults there is nothing to hold. */
  async expectNothingLeft(): Promise<void> {
    // What a home has just read stays until it is closed, or at rest: this one has read nothing.
    for (const { home } of this.#homes.splice(0)) await home.close()
    await this.#openHome()
    const [first] = this.#homes
    if (first === undefined) return
    for (const name of this.#vaults.keys()) await first.home.deleteVault(name)
    await first.home.gc({ keepHistory: new Date(Date.now() + 1) })
    expect(await first.home.stats()).toMatchObject({ pages: { count: 0 }, blobs: { count: 0 } })
  }

  async close(): Promise<void> {
    for (const { home } of this.#homes) await home.close()
  }

  #home(coin: boolean): Home {
    const found = this.#homes.at(coin ? 0 : -1)
    if (found === undefined) throw new Error('a history has a home')
    return found.home
  }

  async #openHome(): Promise<void> {
    const engine = await this.#open(this.#directory)
    this.#homes.push({ home: new Home(new StoreHome(engine)), engine })
  }

  async #create(name: string): Promise<void> {
    await this.#home(true).createVault(name)
    this.#vaults.set(name, new MemoryFs())
  }

  async #fork(home: Home, name: string, model: MemoryFs, as: string): Promise<void> {
    if (this.#vaults.has(as)) {
      await expect(home.fork(name, as)).rejects.toMatchObject({ code: 'EEXIST' })
      return
    }
    await home.fork(name, as)
    this.#vaults.set(as, model.fork())
  }

  async #checkpoint(vault: Vault, model: MemoryFs): Promise<void> {
    if (this.#checkpoints.has(vault.name)) return
    await vault.checkpoint('kept')
    this.#checkpoints.set(vault.name, model.fork())
  }

  async #forget(vault: Vault): Promise<void> {
    const isKept = this.#checkpoints.delete(vault.name)
    expect(await outcome(vault.removeCheckpoint('kept'))).toBe(isKept ? 'done' : 'ENOENT')
  }

  async #restore(vault: Vault): Promise<void> {
    const kept = this.#checkpoints.get(vault.name)
    expect(await outcome(vault.restore('kept'))).toBe(kept === undefined ? 'ENOENT' : 'done')
    if (kept !== undefined) this.#vaults.set(vault.name, kept.fork())
  }

  /** Other tests check the result of a merge; here it either succeeds or changes nothing. */
  async #merge(home: Home, name: string, into: string): Promise<void> {
    const result = await outcome(home.merge(name, into))
    if (result !== 'done') {
      expect(['ECONFLICT', 'EINVAL', 'ENOENT']).toContain(result)
      return
    }
    const model = new MemoryFs()
    for await (const { path, stat } of (await home.vault(into)).walk('/', { includeDirs: true })) {
      if (stat.type === 'directory') await model.mkdir(path)
      else await copy(await home.vault(into), path, path, { into: model })
    }
    this.#vaults.set(into, model)
  }

  async #delete(home: Home, name: string): Promise<void> {
    await home.deleteVault(name)
    this.#vaults.delete(name)
    this.#checkpoints.delete(name)
  }

  /** Begins a collection that runs beside what comes next. */
  #collect(forgets: boolean): void {
    this.#hasForgotten ||= forgets
    const options = forgets ? { keepHistory: new Date(Date.now() + 1) } : {}
    this.#collections.push(this.#home(forgets).gc(options))
  }

  async #wait(): Promise<void> {
    await Promise.all(this.#collections)
    this.#collections = []
  }

  /** As after a crash: the home is not closed first. */
  async #reopen(): Promise<void> {
    await this.#wait()
    const gone = this.#homes.splice(0)
    for (const { engine } of gone) await engine.close()
    for (const _ of gone) await this.#openHome()
  }
}

async function perform(fs: FileSystem, { act, path, to, content, coin }: Step): Promise<void> {
  if (act === 'write') await fs.write(path, content)
  else if (act === 'append') await append(fs, path, content)
  else if (act === 'mkdir') await fs.mkdir(path)
  else if (act === 'remove') await fs.remove(path, { recursive: true })
  else await move(fs, path, to, { overwrite: coin })
}

function outcome(work: Promise<unknown>): Promise<string> {
  return work.then(
    () => 'done',
    (error: unknown) => (isVfsError(error) ? error.code : String(error)),
  )
}

async function expectSame(model: FileSystem, actual: FileSystem): Promise<void> {
  const formatChange = ({ kind, path }: PathChange) => `${kind} ${path}`
  expect(await Array.fromAsync(diff(model, actual), formatChange)).toEqual([])
}

/** Every version that is listed can be read, and the newest is what the file is, unless it was forgotten. */
async function expectVersions(vault: Vault, hasForgotten: boolean): Promise<void> {
  for await (const { path } of vault.walk('/')) {
    const contents: string[] = []
    for await (const { version, size } of vault.versions(path)) {
      const bytes = Buffer.concat(await Array.fromAsync(vault.readVersion(path, version)))
      expect(bytes.length).toBe(size)
      contents.push(bytes.toString())
    }
    const [newest] = contents
    if (newest !== undefined && !hasForgotten) expect(newest).toBe(await readText(vault, path))
    expect((await readFile(vault, path)).length).toBeGreaterThanOrEqual(0)
  }
}

/** The index of tags is what the files say. */
async function expectTags(vault: Vault): Promise<void> {
  const found = new Map<string, string[]>()
  for await (const { path } of vault.walk('/', { includeDirs: true }))
    for (const tag of await vault.tags.of(path)) found.set(tag, [...(found.get(tag) ?? []), path])
  for (const [tag, paths] of found) expect(await vault.tags.find(tag)).toEqual(paths.sort())
  const counts = [...found].map(([tag, paths]) => ({ tag, count: paths.length }))
  expect(await vault.tags.all()).toEqual(counts.sort((a, b) => (a.tag < b.tag ? -1 : 1)))
}

describe('any history of a home', () => {
  for (const [name, open] of Object.entries(engines)) {
    it(`leaves every vault as a file system in memory with the same history, on ${name}`, async () => {
      const steps = fc.array(stepOf(...acts, 'reopen'), { maxLength: 30 })
      const property = fc.asyncProperty(steps, async (steps) => {
        const history = await History.begin(open, 1)
        for (const one of steps) await history.take(one)
        await history.check()
        await history.close()
      })
      await fc.assert(property, { numRuns: name === 'sqlite' ? 60 : 20 })
    })
  }

  it('of two homes, with collections meanwhile, loses nothing and leaks nothing', async () => {
    const steps = fc.array(stepOf(...acts, 'collect', 'collect', 'collect'), { minLength: 10, maxLength: 50 })
    const property = fc.asyncProperty(steps, async (steps) => {
      const history = await History.begin(
        (directory) => new SqliteEngine({ file: join(directory, 'store.db') }),
        2,
      )
      for (const one of steps) await history.take(one)
      await history.check()
      await history.expectNothingLeft()
      await history.close()
    })
    await fc.assert(property, { numRuns: 60 })
  })
})
