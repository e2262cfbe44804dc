import { mkdtempSync, rmSync } from 'node:fs'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import fc from 'fast-check'
import { afterAll, describe, expect, it } from 'vitest'
import { type Engine, MemoryEngine, SqliteEngine, StoreHome } from '../../store/index.ts'
import { isVfsError, readText, type SyncFileHandle } from '../../vfs/index.ts'
import { Home, type Vault } from './index.ts'

const scratch = mkdtempSync(join(tmpdir(), 'coppice-faces-'))
afterAll(() => rmSync(scratch, { recursive: true, force: true }))
let places = 0

const PATHS = ['/a', '/b', '/d/c', '/d/e'] as const
type Path = (typeof PATHS)[number]

/** Which vault, seen by which process, through which face. */
interface Where {
  readonly tree: 'base' | 'fork'
  readonly home: 0 | 1
  readonly face: 'async' | 'late' | 'sync'
}

type Act =
  | { readonly act: 'write' | 'append'; readonly path: Path; readonly text: string }
  | { readonly act: 'remove'; readonly path: Path }
  | { readonly act: 'rename' | 'link'; readonly path: Path; readonly to: Path }
  | { readonly act: 'chmod'; readonly path: Path; readonly mode: number }
  | { readonly act: 'open'; readonly path: Path }
  | { readonly act: 'put'; readonly nth: number; readonly at: number; readonly text: string }
  | { readonly act: 'cut'; readonly nth: number; readonly size: number }
  | { readonly act: 'get' | 'close'; readonly nth: number }
  | { readonly act: 'look' }

const path = fc.constantFrom(...PATHS)
const text = fc.stringMatching(/^[a-z]{1,8}$/)
const nth = fc.nat(5)
const act: fc.Arbitrary<Act> = fc.oneof(
  fc.record({ act: fc.constantFrom('write', 'append'), path, text }),
  fc.record({ act: fc.constant('remove'), path }),
  fc.record({ act: fc.constantFrom('rename', 'link'), path, to: path }),
  fc.record({ act: fc.constant('chmod'), path, mode: fc.constantFrom(0o600, 0o644, 0o755) }),
  fc.record({ act: fc.constant('open'), path }),
  fc.record({ act: fc.constant('put'), nth, at: fc.nat(300), text }),
  fc.record({ act: fc.constant('cut'), nth, size: fc.nat(300) }),
  fc.record({ act: fc.constantFrom('get', 'close'), nth }),
  fc.record({ act: fc.constant('look') }),
)
const where: fc.Arbitrary<Where> = fc.record({
  tree: fc.constantFrom('base', 'base', 'fork'),
  home: fc.constantFrom(0, 0, 1),
  face: fc.constantFrom('async', 'late', 'sync', 'sync'),
})

/** A file with however many names; one that is open may have none. */
interface ModelFile {
  content: Buffer
  mode: number
}

interface ModelHandle {
  file: ModelFile
  readonly home: 0 | 1
  readonly tree: Where['tree']
}

/** Two trees of names that lead to files: what both faces, in both processes, have to agree with. */
class Model {
  readonly trees: Record<Where['tree'], Map<Path, ModelFile>>
  readonly handles: ModelHandle[] = []

  constructor() {
    const base = new Map<Path, ModelFile>()
    this.trees = { base, fork: new Map() }
  }

  /** The error code it fails with, or undefined. */
  apply({ tree }: Where, one: Act): string | undefined {
    const names = this.trees[tree]
    if (!('path' in one)) return undefined
    const file = names.get(one.path)
    if (one.act === 'write' || one.act === 'append') {
      const old = file ?? { content: Buffer.alloc(0), mode: 0o644 }
      old.content = Buffer.concat([
        one.act === 'append' ? old.content : Buffer.alloc(0),
        Buffer.from(one.text),
      ])
      names.set(one.path, old)
      return undefined
    }
    if (file === undefined) return 'ENOENT'
    if (one.act === 'chmod') file.mode = one.mode
    if (one.act === 'remove') this.#drop(tree, one.path)
    if (one.act === 'link') {
      if (names.has(one.to)) return 'EEXIST'
      names.set(one.to, file)
    }
    if (one.act === 'rename' && names.get(one.to) !== file) {
      this.#drop(tree, one.to)
      names.delete(one.path)
      names.set(one.to, file)
    }
    return undefined
  }

  nlink(tree: Where['tree'], file: ModelFile): number {
    return [...this.trees[tree].values()].filter((one) => one === file).length
  }

  /** What loses its last name lives on in each process that has it open, apart from the others. */
  #drop(tree: Where['tree'], path: Path): void {
    const file = this.trees[tree].get(path)
    this.trees[tree].delete(path)
    if (file === undefined || this.nlink(tree, file) > 0) return
    for (const home of [0, 1]) {
      const left = { ...file, content: Buffer.from(file.content) }
      for (const handle of this.handles) if (handle.file === file && handle.home === home) handle.file = left
    }
  }
}

/** The same on vaults: two homes on one store, as two processes have them. */
class Stage {
  readonly #homes: readonly [Home, Home]
  readonly #vaults: Record<Where['tree'], readonly [Vault, Vault]>
  readonly handles: SyncFileHandle[] = []
  #late: { readonly at: Where; readonly done: Promise<void> } | undefined

  private constructor(
    homes: readonly [Home, Home],
    base: readonly [Vault, Vault],
    fork: readonly [Vault, Vault],
  ) {
    this.#homes = homes
    this.#vaults = { base, fork }
  }

  static async open(engines: readonly [Engine, Engine]): Promise<Stage> {
    const [one, other] = engines
    const homes = [new Home(new StoreHome(one)), new Home(new StoreHome(other))] as const
    const first = await homes[0].createVault('base')
    await first.mkdir('/d')
    const base = [first, await homes[1].vault('base')] as const
    const fork = [await homes[0].fork('base', 'fork'), await homes[1].vault('fork')] as const
    return new Stage(homes, base, fork)
  }

  vault({ tree, home }: Where): Vault {
    return this.#vaults[tree][home]
  }

  async apply(at: Where, one: Act): Promise<string | undefined> {
    const vault = this.vault(at)
    if (at.face === 'sync') return codeOf(() => applyNow(vault, one))
    const done = applyLater(vault, one)
    // An append collects its content first, so it is not decided yet when the call returns.
    if (at.face === 'async' || one.act === 'append') return codeOf(() => done)
    this.#late = { at, done: done.catch(() => {}) }
    return undefined
  }

  /** Only callers that cannot wait, on the same vault in the same process, have to see what was not awaited yet. */
  async before({ tree, home, face }: Where): Promise<void> {
    if (this.#late === undefined) return
    const { at, done } = this.#late
    if (face === 'sync' && at.tree === tree && at.home === home) return
    await done
    this.#late = undefined
  }

  async settle(): Promise<void> {
    await this.#late?.done
    this.#late = undefined
  }

  async close(): Promise<void> {
    await this.settle()
    for (const home of this.#homes) await home.close()
  }
}

async function codeOf(work: () => void | Promise<void>): Promise<string | undefined> {
  try {
    await work()
    return undefined
  } catch (error) {
    if (isVfsError(error)) return error.code
    throw error
  }
}

function applyNow({ sync }: Vault, one: Act): void {
  switch (one.act) {
    case 'write':
    case 'append': {
      const isWhole = one.act === 'write'
      const handle = sync.open(one.path, { write: true, create: true, truncate: isWhole })
      handle.write(isWhole ? 0 : handle.stat().size, Buffer.from(one.text))
      handle.close()
      break
    }
    case 'remove':
      sync.remove(one.path)
      break
    case 'rename':
      sync.rename(one.path, one.to, { overwrite: true })
      break
    case 'link':
      sync.link(one.path, one.to)
      break
    case 'chmod':
      sync.setattr(one.path, { mode: one.mode })
      break
    default:
  }
}

async function applyLater(vault: Vault, one: Act): Promise<void> {
  switch (one.act) {
    case 'write':
      return vault.write(one.path, one.text)
    case 'append':
      return vault.append(one.path, one.text)
    case 'remove':
      return vault.remove(one.path)
    case 'rename':
      return vault.rename(one.path, one.to, { overwrite: true })
    case 'link':
      return vault.link(one.path, one.to)
    case 'chmod':
      return vault.setattr(one.path, { mode: one.mode })
    default:
  }
}

function applyToHandle(model: Model, stage: Stage, one: Act): void {
  const nth = 'nth' in one ? one.nth : 0
  const [file, handle] = [model.handles[nth]?.file, stage.handles[nth]]
  if (file === undefined || handle === undefined) return
  switch (one.act) {
    case 'put': {
      handle.write(one.at, Buffer.from(one.text))
      const after = Buffer.alloc(Math.max(file.content.length, one.at + one.text.length))
      file.content.copy(after)
      after.write(one.text, one.at)
      file.content = after
      break
    }
    case 'cut': {
      handle.truncate(one.size)
      const after = Buffer.alloc(one.size)
      file.content.copy(after)
      file.content = after
      break
    }
    case 'close':
      handle.close()
      stage.handles.splice(nth, 1)
      model.handles.splice(nth, 1)
      break
    default:
      expect(Buffer.from(handle.read(0, 1000))).toEqual(file.content)
      expect(handle.stat().size).toBe(file.content.length)
  }
}

function open(model: Model, stage: Stage, at: Where, path: Path): void {
  const file = model.trees[at.tree].get(path)
  if (file === undefined) {
    expect(() => stage.vault(at).sync.open(path)).toThrow('ENOENT')
    return
  }
  stage.handles.push(stage.vault(at).sync.open(path, { write: true }))
  model.handles.push({ file, home: at.home, tree: at.tree })
}

/** Everything, through one face of one process, is as the model has it. */
async function compare(model: Model, vault: Vault, at: Where): Promise<void> {
  const names = model.trees[at.tree]
  const seen = at.face === 'sync' ? seenNow(vault) : await seenLater(vault)
  const numbers = new Map<ModelFile, number>()
  for (const path of PATHS) {
    const file = names.get(path)
    const found = seen.get(path)
    expect([path, found?.text, found?.mode, found?.nlink]).toEqual([
      path,
      file?.content.toString(),
      file?.mode,
      file && model.nlink(at.tree, file),
    ])
    if (file !== undefined && found !== undefined) {
      expect(numbers.get(file) ?? found.ino).toBe(found.ino)
      numbers.set(file, found.ino)
    }
  }
  expect(new Set(numbers.values()).size).toBe(numbers.size)
}

type Seen = Map<string, { text: string; mode: number | null; ino: number; nlink: number }>

function seenNow({ sync }: Vault): Seen {
  const seen: Seen = new Map()
  for (const directory of ['', '/d']) {
    for (const { name, type } of sync.readdir(directory || '/')) {
      if (type !== 'file') continue
      const path = `${directory}/${name}`
      const handle = sync.open(path)
      const { mode, ino, nlink } = sync.stat(path)
      seen.set(path, { text: Buffer.from(handle.read(0, 1000)).toString(), mode, ino, nlink })
      handle.close()
    }
  }
  return seen
}

async function seenLater(vault: Vault): Promise<Seen> {
  const seen: Seen = new Map()
  for await (const { path, stat } of vault.walk('/')) {
    seen.set(path, { text: await readText(vault, path), mode: stat.mode, ...(await vault.identity(path)) })
  }
  return seen
}

/** Does one step on both, and holds what came of it against the model. */
async function take(model: Model, stage: Stage, at: Where, one: Act): Promise<void> {
  const handle = 'nth' in one ? model.handles[one.nth] : undefined
  await stage.before(handle === undefined ? at : { ...handle, face: 'sync' })
  if (one.act === 'open') {
    await stage.before({ ...at, face: 'sync' })
    open(model, stage, at, one.path)
  } else if (one.act === 'look') await compare(model, stage.vault(at), at)
  else if ('nth' in one) applyToHandle(model, stage, one)
  else {
    const expected = model.apply(at, one)
    const code = await stage.apply(at, one)
    if (at.face !== 'late') expect([one, code]).toEqual([one, expected])
  }
}

async function compareAll(model: Model, stage: Stage): Promise<void> {
  await stage.settle()
  for (const tree of ['base', 'fork'] as const) {
    for (const home of [0, 1] as const) {
      for (const face of ['sync', 'async'] as const) {
        const at = { tree, home, face }
        await compare(model, stage.vault(at), at)
      }
    }
  }
  for (let nth = 0; nth < stage.handles.length; nth++) applyToHandle(model, stage, { act: 'get', nth })
}

const engines: Readonly<Record<string, { runs: number; open: () => readonly [Engine, Engine] }>> = {
  memory: {
    runs: 100,
    open: () => {
      const engine = new MemoryEngine()
      return [engine, engine]
    },
  },
  sqlite: {
    runs: 10,
    open: () => {
      const options = { file: join(scratch, `store-${++places}`), durability: 'relaxed' } as const
      return [new SqliteEngine(options), new SqliteEngine(options)]
    },
  },
}

describe('both interfaces of a vault and of its fork, in two processes', () => {
  for (const [name, { runs, open: openEngines }] of Object.entries(engines)) {
    it(`agree after every step with one model of names and files, on ${name}`, async () => {
      const steps = fc.array(fc.record({ at: where, one: act }), { minLength: 5, maxLength: 40 })
      const property = fc.asyncProperty(steps, async (all) => {
        const [model, stage] = [new Model(), await Stage.open(openEngines())]
        try {
          for (const { at, one } of all) await take(model, stage, at, one)
          await compareAll(model, stage)
        } finally {
          await stage.close()
        }
      })
      await fc.assert(property, { numRuns: runs })
    })
  }
})
