import fc from 'fast-check'
import { describe, expect, it } from 'vitest'
import {
  Backend,
  byteStream,
  type Capability,
  compileQuery,
  type DirEntry,
  findMatches,
  grep,
  type Match,
  type ReadOptions,
  type SearchQuery,
  type Stat,
  VfsError,
} from '../../vfs/index.ts'
import { decodeChecksummedJson, encodeChecksummedJson } from '../checksummed-json.ts'
import type { MaybePromise } from '../engine.ts'
import { MemoryEngine } from '../engines/memory-engine.ts'
import { applyOperation } from '../files/apply.ts'
import { link } from '../files/directory-entries.ts'
import type { FileOperation, StoredContent } from '../files/operation.ts'
import { ROOT_INODE, toStat, VaultFiles } from '../files/vault-files.ts'
import { type EncodedPage, flushNodes, NodeCache, PageFault } from '../tree/node-cache.ts'
import { PageCodec } from '../tree/page-codec.ts'
import { Tree } from '../tree/tree.ts'
import type { NodeRef } from '../tree/tree-node.ts'
import { type TreeValue, treeValueCodec } from '../tree/tree-values.ts'
import { EngineIndexRecords, type IndexState, listIndexRoots } from './index-record.ts'
import { buildPatternQuery } from './pattern-query.ts'
import { type SearchedTree, SearchIndex, type SearchLimits } from './search-index.ts'

const INLINE = 8
const CHUNK = 16
const eager: Partial<SearchLimits> = { staleFiles: 1, staleBytes: 64 }

/** Pages of several vaults; at hand, or a network away. */
class Store {
  readonly engine = new MemoryEngine()
  readonly codec = new PageCodec(treeValueCodec)
  readonly cache: NodeCache<TreeValue>
  readonly blobs = new Map<number, Uint8Array>()
  readonly damaged = new Set<number>()
  #ids = 0

  constructor({ isRemote = false } = {}) {
    const readPage = (id: number) => {
      const page = this.engine.readPage(id)
      return isRemote ? Promise.resolve(page) : page
    }
    this.cache = new NodeCache({ codec: this.codec, readPage, capacity: isRemote ? 200_000 : 16_000_000 })
  }

  readonly nextId = () => ++this.#ids

  store(tree: Tree<TreeValue>): number {
    const pages: EncodedPage[] = []
    const root = flushNodes(tree.snapshot(), this.codec, this.nextId, (page) => pages.push(page))
    this.engine.commit({ pages })
    return root
  }

  content(bytes: Uint8Array): StoredContent {
    if (bytes.length <= INLINE) return { size: bytes.length, inline: Buffer.from(bytes).toString('base64') }
    const chunks = Array.from({ length: Math.ceil(bytes.length / CHUNK) }, (_, index) => {
      const blob = this.nextId()
      const part = bytes.subarray(index * CHUNK, (index + 1) * CHUNK)
      this.blobs.set(blob, part)
      return { blob, size: part.length, crc: 0 }
    })
    return { size: bytes.length, chunks }
  }

  readonly read = (files: VaultFiles, number: number): Uint8Array => {
    const { content, size } = files.getInode(number)
    if (this.damaged.has(number)) throw new VfsError('EIO', String(number))
    if (content instanceof Uint8Array) return content
    if (content !== 'chunks') return this.blobs.get(content.blob) ?? new Uint8Array(0)
    const count = Math.ceil(size / CHUNK)
    const parts = Array.from({ length: count }, (_, index) => files.findChunk(number, index)?.blob ?? 0)
    return Buffer.concat(parts.map((blob) => this.blobs.get(blob) ?? new Uint8Array(0)))
  }
}

async function afterFaults<T>(work: () => T): Promise<T> {
  for (;;) {
    try {
      return work()
    } catch (error) {
      if (!(error instanceof PageFault)) throw error
      await error.loading
    }
  }
}

const retry = <T>(work: () => T): MaybePromise<T> => {
  try {
    return work()
  } catch (error) {
    if (!(error instanceof PageFault)) throw error
    return error.loading.then(() => afterFaults(work))
  }
}

/** A vault as a search sees it: a tree that changes, and an index. */
class TestVault {
  readonly #store: Store
  readonly #limits: Partial<SearchLimits>
  readonly #ids: readonly [number, ...number[]]
  readonly #tree: Tree<TreeValue>
  readonly index: SearchIndex
  readonly files: VaultFiles
  reads = 0
  #seq = 0

  constructor(
    store: Store,
    limits: Partial<SearchLimits> = {},
    grown?: { tree: Tree<TreeValue>; from: TestVault },
  ) {
    this.#store = store
    this.#limits = limits
    this.#ids = [store.nextId(), ...(grown === undefined ? [] : grown.from.#ids)]
    this.#tree = grown?.tree ?? new Tree(store.cache)
    this.files = new VaultFiles(this.#tree)
    if (grown === undefined) this.files.createRoot(this.#moment())
    const { cache: source, codec } = store
    const ids = { next: store.nextId, ensure: () => {} }
    const readFile = (files: VaultFiles, number: number) => {
      this.reads++
      return store.read(files, number)
    }
    const records = new EngineIndexRecords(store.engine, this.#ids)
    this.index = new SearchIndex({ source, codec, ids, records, retry, readFile, limits })
  }

  get root(): NodeRef<TreeValue> {
    return this.#tree.snapshot()
  }

  apply(operation: FileOperation): Promise<unknown> {
    return afterFaults(() => applyOperation(this.files, operation, this.#moment()))
  }

  write(path: string, content: string | Uint8Array): Promise<unknown> {
    const stored = this.#store.content(Buffer.from(content))
    return this.apply({ op: 'write', path, content: stored, parents: true })
  }

  rename(path: string, to: string): Promise<unknown> {
    return this.apply({ op: 'rename', path, to, overwrite: true })
  }

  remove(path: string): Promise<unknown> {
    return this.apply({ op: 'remove', path, recursive: true })
  }

  /** Gives a file a further name in the root, if there is such a file and no such name. */
  link(path: string, name: string): Promise<void> {
    return afterFaults(() => {
      const number = this.files.findByPath(path)
      if (number === undefined || this.files.getInode(number).type !== 'file') return
      if (this.files.findByPath(`/${name}`) === undefined) {
        link(this.files, number, { parent: ROOT_INODE, name }, this.#moment())
      }
    })
  }

  checkpoint(): number {
    return this.#store.store(this.#tree)
  }

  held(): { root: number; expect: [] } {
    return { root: this.checkpoint(), expect: [] }
  }

  /** Journal rows of a fork count from 1 again, so versions repeat with other content. */
  fork(): TestVault {
    return new TestVault(this.#store, this.#limits, {
      tree: new Tree(this.#store.cache, this.checkpoint()),
      from: this,
    })
  }

  restore(root: number): void {
    this.#tree.reset(root)
  }

  search(path: string, query: SearchQuery | string | RegExp, signal?: AbortSignal): Promise<Match[]> {
    return this.searchAt({ root: this.root, flush: () => this.held() }, path, query, signal)
  }

  async searchAt(
    tree: SearchedTree,
    path: string,
    query: SearchQuery | string | RegExp,
    signal?: AbortSignal,
  ): Promise<Match[]> {
    const full = typeof query === 'string' || query instanceof RegExp ? { pattern: query } : query
    const compiled = compileQuery(full)
    const matches: Match[] = []
    for await (const file of this.index.findFiles(tree, path, buildPatternQuery(full.pattern), { signal })) {
      matches.push(...findMatches(file.path, file.bytes, compiled))
    }
    return matches
  }

  /** What reading every file gives. */
  scan(
    path: string,
    query: SearchQuery | string | RegExp,
    root: NodeRef<TreeValue> = this.root,
  ): Promise<Match[]> {
    const files = new VaultFiles(new Tree(this.#store.cache, root))
    return Array.fromAsync(grep(new ScannedFs(files, this.#store), path, query))
  }

  #moment() {
    return { time: { seconds: 1, nanos: 0 }, seq: ++this.#seq }
  }
}

/** The files of a tree as the plainest file system: one that cannot search. */
class ScannedFs extends Backend {
  readonly capabilities: ReadonlySet<Capability> = new Set<Capability>(['read'])
  readonly #files: VaultFiles
  readonly #store: Store

  constructor(files: VaultFiles, store: Store) {
    super()
    this.#files = files
    this.#store = store
  }

  protected doStat(path: string): Promise<Stat> {
    return afterFaults(() => toStat(this.#files.getInode(this.#number(path, false))))
  }

  protected async *doReaddir(path: string): AsyncGenerator<DirEntry> {
    const number = await afterFaults(() => this.#number(path, true))
    const entries = await afterFaults(() => [...this.#files.listEntries(number)])
    for (const { name, type } of entries) yield { name, type }
  }

  protected async *doRead(path: string, options: ReadOptions): AsyncGenerator<Uint8Array> {
    const bytes = await afterFaults(() => {
      const number = this.#number(path, true)
      if (this.#files.getInode(number).type === 'directory') throw new VfsError('EISDIR', path)
      return this.#store.read(this.#files, number)
    })
    yield* byteStream(bytes, path, options)
  }

  #number(path: string, followLast: boolean): number {
    const number = this.#files.findByPath(this.#files.resolveLinks(path, followLast, 'stat'))
    if (number === undefined) throw new VfsError('ENOENT', path)
    return number
  }
}

const letter = fc.constantFrom(
  'a',
  'b',
  'A',
  'k',
  '\u212a',
  's',
  'ſ',
  'é',
  '😀',
  '\ufffd',
  '.',
  ' ',
  '\r',
  '\n',
  '\r\n',
)
const text = fc.string({ unit: letter, maxLength: 40 })
const content = fc.oneof(
  { weight: 8, arbitrary: text },
  { weight: 1, arbitrary: fc.uint8Array({ maxLength: 40 }) },
  { weight: 1, arbitrary: text.map((some) => `${some}\0${some}`) },
)
const name = fc.constantFrom('a', 'b', 'a!', 'ab', 'é')
const path = fc.array(name, { minLength: 1, maxLength: 3 }).map((names) => `/${names.join('/')}`)

const literal = fc.string({ unit: letter, maxLength: 6 })
const piece = fc.oneof(
  literal.map((some) => some.replace(/[.\r\n]/g, '\\$&')),
  fc.constantFrom(
    '.',
    '[ab]',
    '(?:a|bb)',
    '(aab|bAb)?',
    'a+',
    '(ab)+b',
    '\\w',
    '\\b',
    'a{2}',
    '(?=ab)',
    '\\x61\\u0062',
    '(?:abA|)',
    '[^a]',
    '.*',
  ),
)
const regexp = fc
  .tuple(
    fc.array(
      fc.array(piece, { maxLength: 5 }).map((pieces) => pieces.join('')),
      { minLength: 1, maxLength: 2 },
    ),
    fc.constantFrom('', 'i', 'u', 'iu', 'g', 'iv', 'm'),
  )
  .chain(([alternatives, flags]) => {
    try {
      return fc.constant(new RegExp(alternatives.join('|'), flags))
    } catch {
      return fc.constant(/aab/i)
    }
  })
const query = fc.record({ pattern: fc.oneof(literal, regexp), before: fc.nat(2), after: fc.nat(2) })

const step = fc.oneof(
  { weight: 6, arbitrary: fc.record({ do: fc.constant('write' as const), path, content }) },
  { weight: 2, arbitrary: fc.record({ do: fc.constant('rename' as const), path, to: path }) },
  { weight: 2, arbitrary: fc.record({ do: fc.constant('remove' as const), path }) },
  { weight: 1, arbitrary: fc.record({ do: fc.constant('link' as const), path, to: name }) },
  { weight: 1, arbitrary: fc.record({ do: fc.constant('symlink' as const), path, to: path }) },
  { weight: 1, arbitrary: fc.record({ do: fc.constant('fork' as const) }) },
  { weight: 1, arbitrary: fc.record({ do: fc.constant('checkpoint' as const) }) },
  { weight: 1, arbitrary: fc.record({ do: fc.constant('restore' as const), which: fc.nat() }) },
  { weight: 5, arbitrary: fc.record({ do: fc.constant('search' as const), query, path, which: fc.nat() }) },
)

type Step = typeof step extends fc.Arbitrary<infer S> ? S : never

/** Several vaults that grew from one, and what they were at some moments. */
class World {
  readonly vaults: TestVault[]
  readonly checkpoints: { vault: TestVault; root: number }[] = []
  #at = 0

  constructor(vault: TestVault) {
    this.vaults = [vault]
  }

  get vault(): TestVault {
    const vault = this.vaults[this.#at % this.vaults.length]
    if (vault === undefined) throw new RangeError('there is always a vault')
    return vault
  }

  async do(step: Step): Promise<void> {
    this.#at++
    const { vault } = this
    if (step.do === 'write') await vault.write(step.path, step.content).catch(ignoreRefusal)
    if (step.do === 'rename') await vault.rename(step.path, step.to).catch(ignoreRefusal)
    if (step.do === 'remove') await vault.remove(step.path).catch(ignoreRefusal)
    if (step.do === 'symlink')
      await vault.apply({ op: 'symlink', path: step.path, target: step.to }).catch(ignoreRefusal)
    if (step.do === 'link') await vault.link(step.path, step.to)
    if (step.do === 'restore') {
      const checkpoint = this.checkpoints[step.which % Math.max(1, this.checkpoints.length)]
      if (checkpoint !== undefined) vault.restore(checkpoint.root)
    }
    if (step.do === 'fork') this.vaults.push(vault.fork())
    if (step.do === 'checkpoint') this.checkpoints.push({ vault, root: vault.checkpoint() })
    if (step.do === 'search') await this.#search(step)
  }

  async #search({ query, path, which }: Extract<Step, { do: 'search' }>): Promise<void> {
    const { vault } = this
    for (const root of ['/', path]) {
      const expected = await settled(vault.scan(root, query))
      expect(await settled(vault.search(root, query))).toEqual(expected)
    }
    const past = this.checkpoints[which % Math.max(1, this.checkpoints.length)]
    if (past === undefined) return
    const expected = await vault.scan('/', query, past.root)
    expect(await past.vault.searchAt({ root: past.root }, '/', query)).toEqual(expected)
    expect(await vault.searchAt({ root: past.root }, '/', query)).toEqual(expected)
  }
}

function ignoreRefusal(error: unknown): void {
  if (!(error instanceof VfsError)) throw error
}

/** Matches, or the code of the refusal. */
function settled(matches: Promise<Match[]>): Promise<Match[] | string> {
  return matches.catch((error: unknown) => {
    if (error instanceof VfsError) return error.code
    throw error
  })
}

/** What an index record holds, as it is stored. */
function stored(record: { bytes: Uint8Array | null } | undefined): {
  current: IndexState
  draft?: IndexState
} {
  return decodeChecksummedJson(record?.bytes ?? new Uint8Array(0), 'index')
}

describe('a search through the index', () => {
  for (const isRemote of [false, true]) {
    it(`finds exactly what a scan finds, whatever happened, with pages ${isRemote ? 'far away' : 'at hand'}`, async () => {
      const limits = fc.record({
        staleFiles: fc.nat(3),
        staleBytes: fc.constantFrom(10, 1000),
        fewFiles: fc.constantFrom(0, 100),
      })
      await fc.assert(
        fc.asyncProperty(limits, fc.array(step, { maxLength: 40 }), async (some, steps) => {
          const world = new World(new TestVault(new Store({ isRemote }), some))
          for (const one of steps) await world.do(one)
        }),
        { numRuns: isRemote ? 150 : 400 },
      )
    })
  }

  it('reads only the files that have the text', async () => {
    const vault = new TestVault(new Store(), eager)
    for (let n = 0; n < 300; n++) await vault.write(`/d${n % 7}/f${n}`, `some text number ${n} of many`)
    await vault.write('/d3/special', 'here is\na NEEDLE, once\n')
    expect(await vault.search('/', 'NEEDLE')).toMatchObject([{ path: '/d3/special', line: 2 }])
    vault.reads = 0
    expect(await vault.search('/', 'NEEDLE')).toMatchObject([{ path: '/d3/special', line: 2 }])
    expect(vault.reads).toBe(1)
    expect(await vault.search('/', /needle,? (once|twice)/i)).toHaveLength(1)
    expect(await vault.search('/d4', 'NEEDLE')).toEqual([])
    expect(await vault.search('/', 'NEEDLES')).toEqual([])
    expect(vault.reads).toBeLessThanOrEqual(3)
  })

  it('serves a fork, an earlier checkpoint and what was changed since, reading what differs', async () => {
    const vault = new TestVault(new Store(), { staleFiles: 50, staleBytes: 1e6 })
    for (let n = 0; n < 200; n++) await vault.write(`/f${n}`, `text ${n}`)
    await vault.write('/old', 'the needle is here')
    const before = vault.checkpoint()
    await vault.search('/', 'nothing')
    await vault.rename('/old', '/moved')
    await vault.write('/f7', 'another needle')
    const fork = vault.fork()
    await fork.remove('/moved')
    await fork.write('/f8', 'the needle of a fork')
    for (const one of [vault, fork]) one.reads = 0
    const paths = async (matches: Promise<Match[]>) => (await matches).map((match) => match.path)
    expect(await paths(vault.search('/', 'needle'))).toEqual(['/f7', '/moved'])
    expect(await paths(fork.search('/', 'needle'))).toEqual(['/f7', '/f8'])
    expect(await paths(fork.searchAt({ root: before }, '/', 'needle'))).toEqual(['/old'])
    expect(vault.reads + fork.reads).toBeLessThan(10)
  })

  it('notices content that changed without another size', async () => {
    const vault = new TestVault(new Store(), { staleFiles: 4, staleBytes: 1e6 })
    const lengths = { inline: INLINE, blob: CHUNK, chunks: 5 * CHUNK }
    const filled = (word: string, length: number) => word.padEnd(length, '.')
    for (const [form, length] of Object.entries(lengths))
      await vault.write(`/${form}`, filled('before', length))
    for (let n = 0; n < 5; n++) await vault.write(`/f${n}`, 'something else')
    expect(await vault.search('/', 'before')).toHaveLength(3)
    for (const [form, length] of Object.entries(lengths))
      await vault.write(`/${form}`, filled('after', length))
    expect(await vault.search('/', 'after')).toHaveLength(3)
    expect(await vault.search('/', 'before')).toEqual([])
  })

  it('lists files in the order of a walk, and a file under each of its names', async () => {
    const vault = new TestVault(new Store(), eager)
    const paths = ['/a/b', '/a!', '/a.txt', '/a/c/d', '/ab', '/B', '/é', '/a/c!']
    for (const path of paths) await vault.write(path, 'a word')
    for (let n = 0; n < 50; n++) await vault.write(`/other/${n}`, 'something else')
    await vault.link('/ab', 'linked')
    await vault.search('/', 'a word')
    vault.reads = 0
    const found = (await vault.search('/', 'a word')).map((match) => match.path)
    expect(found).toEqual(['/B', '/a/b', '/a/c/d', '/a/c!', '/a!', '/a.txt', '/ab', '/linked', '/é'])
    expect(vault.reads).toBe(found.length)
    expect((await vault.search('/a', 'a word')).map((match) => match.path)).toEqual([
      '/a/b',
      '/a/c/d',
      '/a/c!',
    ])
  })

  it('is not misled by equal inode numbers and versions of vaults that went different ways', async () => {
    const vault = new TestVault(new Store(), eager)
    const fork = vault.fork()
    for (let n = 0; n < 5; n++) await vault.write(`/f${n}`, `in the vault ${n}`)
    for (let n = 0; n < 5; n++) await fork.write(`/f${n}`, `in the fork ${n}`)
    for (const one of [vault, fork, vault, fork]) {
      expect(await one.search('/', 'in the')).toEqual(await one.scan('/', 'in the'))
      expect(await one.search('/', 'fork 3')).toHaveLength(one === fork ? 1 : 0)
    }
  })

  it('fills several blocks, and joins small ones', async () => {
    const store = new Store()
    const vault = new TestVault(store, { staleFiles: 100, staleBytes: 1e9 })
    const write = async (from: number, to: number) => {
      for (let n = from; n < to; n++) await vault.write(`/d${n % 50}/f${n}`, `file ${n}\nword${n % 1000}\n`)
    }
    await write(0, 5000)
    for (let round = 0; round < 6; round++) {
      expect(await vault.search('/', 'word77')).toEqual(await vault.scan('/', 'word77'))
      await write(5000 + round * 150, 5150 + round * 150)
    }
    await vault.search('/', 'word')
    const [record] = store.engine.listRecords('index/')
    const { current, draft } = stored(record)
    expect(draft).toBeUndefined()
    expect(current.blocks.map(({ documents }: { documents: number }) => documents)).toEqual([4096, 1354, 450])
    vault.reads = 0
    expect(await vault.search('/', 'file 5432')).toHaveLength(1)
    expect(vault.reads).toBeLessThan(5)
  })

  it('starts anew when most of the index is dead', async () => {
    const store = new Store()
    const vault = new TestVault(store, { staleFiles: 1000, staleBytes: 1e9 })
    for (let round = 0; round < 5; round++) {
      for (let n = 0; n < 1100; n++) await vault.write(`/f${n}`, `round ${round} of ${n}`)
      expect(await vault.search('/', `round ${round}`)).toHaveLength(1100)
    }
    const [record] = store.engine.listRecords('index/')
    const { current } = stored(record)
    const documents = current.blocks.reduce(
      (sum: number, block: { documents: number }) => sum + block.documents,
      0,
    )
    expect(documents).toBeLessThan(4096)
    expect(await vault.search('/', 'round 0')).toEqual([])
  })

  it('leaves the index as it was when it is left early or aborted', async () => {
    const store = new Store()
    const vault = new TestVault(store, eager)
    for (let n = 0; n < 20; n++) await vault.write(`/f${n}`, `text ${n}`)
    const tree = { root: vault.root, flush: () => vault.held() }
    const roots = () =>
      store.engine.listRecords('index/').flatMap(({ bytes }) => listIndexRoots(bytes ?? Buffer.of()))
    let read = 0
    for await (const _ of vault.index.findFiles(tree, '/', 'anything')) {
      // From the second file on it is noted that an index is in the making.
      if (++read === 4) expect(roots()).toHaveLength(2)
      if (read === 4) break
    }
    expect(roots()).toEqual([])
    await expect(vault.search('/', 'text', AbortSignal.abort())).rejects.toThrow('aborted')
    expect(roots()).toEqual([])
    expect(await vault.search('/', 'text 1')).toHaveLength(11)
    expect(roots()).toHaveLength(2)
  })

  it('gives up its index, not its result, when somebody else stores one first', async () => {
    const store = new Store()
    const vault = new TestVault(store, eager)
    for (let n = 0; n < 20; n++) await vault.write(`/f${n}`, `text ${n}`)
    let read = 0
    const other = { current: { covers: vault.checkpoint(), index: 0, blocks: [], dead: 0 }, format: 1 }
    for await (const _ of vault.index.findFiles(
      { root: vault.root, flush: () => vault.held() },
      '/',
      'anything',
    )) {
      if (++read !== 10) continue
      const [{ key } = { key: '' }] = store.engine.listRecords('index/')
      store.engine.commit({ records: [{ key, bytes: encodeChecksummedJson(other) }] })
    }
    expect(read).toBe(20)
    const [record] = store.engine.listRecords('index/')
    expect(stored(record)).toEqual(other)
  })

  it('scans, and makes another index, where the index is damaged', async () => {
    const store = new Store()
    const vault = new TestVault(store, eager)
    for (let n = 0; n < 20; n++) await vault.write(`/f${n}`, `text ${n}`)
    await vault.search('/', 'text')
    const broken = new TestVault(store, eager, {
      tree: new Tree(store.cache, vault.checkpoint()),
      from: vault,
    })
    const [record] = store.engine.listRecords('index/')
    const { current } = stored(record)
    store.engine.commit({ sweep: { pages: [current.index] } })
    expect(await broken.search('/', 'text 1')).toHaveLength(11)
    broken.reads = 0
    expect(await broken.search('/', 'text 13')).toHaveLength(1)
    expect(broken.reads).toBe(1)
  })

  it('reads a damaged file in every search, and leaves it out as a scan does', async () => {
    const store = new Store()
    const vault = new TestVault(store, eager)
    for (let n = 0; n < 20; n++) await vault.write(`/f${n}`, `text ${n}`)
    const number = vault.files.findByPath('/f3') ?? 0
    store.damaged.add(number)
    expect(await vault.search('/', 'text')).toHaveLength(19)
    expect(await vault.search('/', 'text 3')).toEqual([])
    await expect(vault.search('/f3', 'text')).rejects.toMatchObject({ code: 'EIO' })
    store.damaged.clear()
    expect(await vault.search('/', 'text 3')).toHaveLength(1)
  })
})
