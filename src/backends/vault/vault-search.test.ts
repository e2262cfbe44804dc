import fc from 'fast-check'
import { describe, expect, it } from 'vitest'
import {
  createSearchIndex,
  DelayedEngine,
  type Engine,
  forkVault,
  MemoryEngine,
  openSearchedTree,
  StoreHome,
} from '../../store/index.ts'
import {
  type Capability,
  type FileSystem,
  grep,
  type Match,
  ReadOnlyFs,
  type SearchQuery,
} from '../../vfs/index.ts'
import { Vault } from './vault.ts'
import { VaultSearch } from './vault-search.ts'

/** A file system that has to be searched by reading every file. */
class Scanned extends ReadOnlyFs {
  override get capabilities(): ReadonlySet<Capability> {
    return super.capabilities.difference(new Set(['search']))
  }
}

/** Vaults of one home, each with its search. */
class Searched {
  readonly home: StoreHome
  readonly vault: Vault
  readonly search: VaultSearch

  constructor(
    home: StoreHome,
    name: string,
    log: Awaited<ReturnType<StoreHome['openVault']>>,
    staleFiles = 2,
  ) {
    this.home = home
    this.vault = new Vault(home, name, log)
    const index = createSearchIndex(home, log, { staleFiles, staleBytes: 50 * staleFiles })
    this.search = new VaultSearch(index, () => openSearchedTree(home, name, log))
  }

  /** @param staleFiles how many files it takes to make an index */
  static async create(engine: Engine = new MemoryEngine(), staleFiles = 2): Promise<Searched> {
    const home = new StoreHome(engine)
    return new Searched(home, 'base', await home.createVault('base'), staleFiles)
  }

  async fork(name: string): Promise<Searched> {
    return new Searched(this.home, name, await forkVault(this.home, this.vault.name, name))
  }

  matches(root: string, query: SearchQuery): Promise<Match[]> {
    return Array.fromAsync(this.search.search(root, query))
  }
}

function scanned(fs: FileSystem, root: string, query: SearchQuery): Promise<Match[]> {
  return Array.fromAsync(grep(new Scanned(fs), root, query))
}

const word = fc.constantFrom('alpha', 'beta', 'Gamma', 'δέλτα', '日本', 'x')
const line = fc.array(word, { maxLength: 4 }).map((words) => words.join(' '))
const content = fc
  .array(line, { maxLength: 5 })
  .chain((lines) => fc.constantFrom('\n', '\r\n').map((end) => lines.join(end)))
const path = fc.constantFrom('/a', '/b/c', '/b/d', '/b/d.txt', '/e/f/g', '/e/f!')
const pattern = fc.oneof(
  word,
  fc.constantFrom(/alpha|beta/, /gamma/i, /^x/, /alpha.*beta/u, /[a-z]+ x$/, /日/, /Δ/i, 'ha be', 'a', ''),
)
const step = fc.oneof(
  { weight: 5, arbitrary: fc.record({ do: fc.constant('write' as const), path, content }) },
  { weight: 1, arbitrary: fc.record({ do: fc.constant('remove' as const), path }) },
  { weight: 1, arbitrary: fc.record({ do: fc.constant('rename' as const), path, to: path }) },
  { weight: 1, arbitrary: fc.record({ do: fc.constant('fork' as const) }) },
  { weight: 1, arbitrary: fc.record({ do: fc.constant('checkpoint' as const) }) },
  { weight: 1, arbitrary: fc.record({ do: fc.constant('restore' as const) }) },
  { weight: 4, arbitrary: fc.record({ do: fc.constant('search' as const), pattern }) },
)
type Step = typeof step extends fc.Arbitrary<infer S> ? S : never

async function perform(vaults: Searched[], at: number, step: Step): Promise<void> {
  const one = vaults[at % vaults.length]
  if (one === undefined) return
  const { vault } = one
  if (step.do === 'write') await vault.write(step.path, step.content)
  if (step.do === 'remove') await vault.remove(step.path).catch(() => {})
  if (step.do === 'rename') await vault.rename(step.path, step.to, { overwrite: true }).catch(() => {})
  if (step.do === 'fork') vaults.push(await one.fork(`fork-${vaults.length}`))
  if (step.do === 'checkpoint') await vault.checkpoint()
  if (step.do === 'restore') {
    const [first] = await vault.checkpoints()
    if (first !== undefined) await vault.restore(first.name)
  }
  if (step.do !== 'search') return
  for (const root of ['/', '/b'].filter((some) => some === '/' || at % 2 === 0)) {
    if (!(await vault.exists(root))) continue
    const query = { pattern: step.pattern, before: 1, after: 1 }
    expect(await one.matches(root, query)).toEqual(await scanned(vault, root, query))
  }
}

describe('the search of a vault', () => {
  it('finds exactly what a scan finds, across forks and restores', async () => {
    await fc.assert(
      fc.asyncProperty(fc.array(step, { maxLength: 25 }), async (steps) => {
        const vaults = [await Searched.create()]
        for (const [at, one] of steps.entries()) await perform(vaults, at, one)
      }),
      { numRuns: 100 },
    )
  })

  it('finds exactly what a scan finds on a remote engine', async () => {
    await fc.assert(
      fc.asyncProperty(fc.array(step, { maxLength: 25 }), async (steps) => {
        const vaults = [await Searched.create(new DelayedEngine(new MemoryEngine()))]
        for (const [at, one] of steps.entries()) await perform(vaults, at, one)
      }),
      { numRuns: 40 },
    )
  })

  it('shows the moment of the call', async () => {
    const one = await Searched.create()
    for (let n = 0; n < 9; n++) await one.vault.write(`/f${n}`, 'a word')
    const matches = one.search.search('/', { pattern: 'word' })
    await one.vault.write('/f9', 'a word')
    expect(await Array.fromAsync(matches)).toHaveLength(9)
    expect(await one.matches('/', { pattern: 'word' })).toHaveLength(10)
  })

  it('accepts a file or a link as its root, and rejects a missing one', async () => {
    const { vault, search } = await Searched.create()
    await vault.write('/d/a', 'a word')
    await vault.symlink('/d', '/link')
    const found = async (root: string) =>
      (await Array.fromAsync(search.search(root, { pattern: 'word' }))).map((match) => match.path)
    expect(await found('/d/a')).toEqual(['/d/a'])
    expect(await found('/link')).toEqual(['/link/a'])
    await expect(found('/none')).rejects.toMatchObject({ code: 'ENOENT' })
  })

  it('stops when it is aborted', async () => {
    const { vault, search } = await Searched.create()
    for (let n = 0; n < 9; n++) await vault.write(`/f${n}`, 'a word')
    const controller = new AbortController()
    const matches = search.search('/', { pattern: 'word' }, { signal: controller.signal })
    await expect(
      (async () => {
        for await (const _ of matches) controller.abort()
      })(),
    ).rejects.toThrow('aborted')
  })
})

describe('full text', () => {
  const library = {
    '/guide/forks.md': 'Forks\n\nA fork is cheap and small. Fork early, fork often.\n',
    '/guide/merge.md': 'Merging\n\nMerge a fork into the vault it grew from.\nforked vaults differ.\n',
    '/notes.txt': 'the cheap fork, again\nwith_underscores and dots.in.names\n',
    '/日記.txt': '今日は東京に行った\n',
    '/straße.txt': 'STRASSE und Straße\n',
    '/dotted.txt': 'xaİz',
    '/binary': 'fork\0fork',
  }
  const paths = async (query: string, options = {}) => {
    const { vault, search } = await Searched.create()
    for (const [path, content] of Object.entries(library)) await vault.write(path, content)
    const first = await search.searchText(query, options)
    // The second time through the index.
    expect(await search.searchText(query, options)).toEqual(first)
    return first.map((hit) => hit.path)
  }

  it.each([
    ['fork', ['/guide/forks.md', '/notes.txt', '/guide/merge.md']],
    ['FORK cheap', ['/guide/forks.md', '/notes.txt']],
    ['forked', ['/guide/merge.md']],
    ['fork* vault', ['/guide/merge.md']],
    ['"cheap fork"', ['/notes.txt']],
    ['fork -cheap', ['/guide/merge.md']],
    ['fork -"cheap fork" -merge', ['/guide/forks.md']],
    ['with_underscores', ['/notes.txt']],
    ['in.names', ['/notes.txt']],
    ['東京', ['/日記.txt']],
    ['京東', []],
    ['straße', ['/straße.txt']],
    ['xai*', ['/dotted.txt']],
    ['for', []],
  ])('finds %j in %j', async (query, expected) => {
    expect((await paths(query)).toSorted()).toEqual(expected.toSorted())
  })

  it('returns the best hits first, up to the limit, below the root', async () => {
    expect(await paths('fork')).toEqual(['/guide/forks.md', '/notes.txt', '/guide/merge.md'])
    expect(await paths('fork', { limit: 1 })).toEqual(['/guide/forks.md'])
    expect(await paths('fork', { root: '/guide' })).toEqual(['/guide/forks.md', '/guide/merge.md'])
  })

  it('shows the lines with the most matches', async () => {
    const { vault, search } = await Searched.create()
    const long = `${'padding '.repeat(100)}needle ${'padding '.repeat(100)}`
    await vault.write('/a', `one needle\nnothing\nneedle and thread\nthread\n${long}\nneedle\nneedle\n`)
    const [hit] = await search.searchText('needle thread')
    expect(hit?.snippets.map(({ line }) => line)).toEqual([1, 3, 4])
    const [other] = await search.searchText('needle padding')
    const cut = other?.snippets.find(({ line }) => line === 5)?.text ?? ''
    expect(cut.length).toBeLessThan(210)
  })

  it('finds the same without an index, for any case folding', async () => {
    const letters = fc.constantFrom(...'aikKsSxz', '\u212a', 'İ', 'ı', 'ſ', 'ß', 'é', 'É', ' ', '_', '東')
    const text = fc.string({ unit: letters, maxLength: 20 })
    const query = fc.tuple(fc.string({ unit: letters, minLength: 1, maxLength: 6 }), fc.constantFrom('', '*'))
    await fc.assert(
      fc.asyncProperty(
        fc.array(text, { minLength: 4, maxLength: 8 }),
        fc.array(query, { maxLength: 6 }),
        async (texts, queries) => {
          const one = await Searched.create()
          const plain = await Searched.create(new MemoryEngine(), 1e9)
          for (const { vault } of [one, plain]) {
            for (const [n, content] of texts.entries()) await vault.write(`/f${n}`, content)
          }
          const asked = [
            ...queries,
            ...texts.flatMap((some): [string, string][] =>
              some.split(' ').map((part) => [part.slice(0, 3), '*']),
            ),
          ]
          for (const [some, star] of asked) {
            const answer = (search: VaultSearch) =>
              search.searchText(some + star).catch((error) => error.code)
            const expected = await answer(plain.search)
            expect(await answer(one.search)).toEqual(expected)
            expect(await answer(one.search)).toEqual(expected)
          }
        },
      ),
      { numRuns: 100 },
    )
  })

  it('rejects a query without a word, and a missing root', async () => {
    const { search } = await Searched.create()
    for (const query of ['', '  ', '-only', '"..."'])
      await expect(search.searchText(query)).rejects.toMatchObject({ code: 'EINVAL' })
    await expect(search.searchText('word', { root: '/none' })).rejects.toMatchObject({ code: 'ENOENT' })
  })
})
