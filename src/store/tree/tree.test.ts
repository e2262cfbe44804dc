import { crc32 } from 'node:zlib'
import fc from 'fast-check'
import { describe, expect, it } from 'vitest'
import { ByteWriter } from './byte-codec.ts'
import { diffTrees } from './diff-trees.ts'
import { flushNodes, NodeCache } from './node-cache.ts'
import { PageCodec, type ValueCodec } from './page-codec.ts'
import { Tree } from './tree.ts'

const numbers: ValueCodec<{ n: number }> = {
  encode: ({ n }, writer) => writer.varint(n),
  decode: (_kind, reader) => ({ n: reader.varint() }),
  isPlainlyOther: () => false,
  listBlobs: () => [],
}

/** A tree over pages in a plain map, so that every node that is flushed really is read back from bytes. */
function setUp(capacity = 20_000) {
  const pages = new Map<number, Uint8Array>()
  const codec = new PageCodec(numbers)
  const cache = new NodeCache({ codec, readPage: (id) => pages.get(id), capacity })
  const flush = (tree: Tree<{ n: number }>) => {
    const root = flushNodes(
      tree.snapshot(),
      codec,
      () => pages.size + 1,
      (page) => pages.set(page.id, page.bytes),
    )
    tree.reset(root)
    return root
  }
  return { pages, cache, flush, tree: new Tree(cache) }
}

const isEqual = (a: { n: number }, b: { n: number }) => a.n === b.n

type Model = Map<string, number>
const group = (key: number) => key * 8 + 1

function contentOf(tree: Tree<{ n: number }>): [string, number][] {
  return [...tree.iterateFrom(0, 0)].map(({ group, sub, value }) => [`${group}/${sub}`, value.n])
}

function sorted(model: Model): [string, number][] {
  const parts = (key: string) => key.split('/') as [string, string]
  return [...model].sort(([a], [b]) => {
    const [[groupA, subA], [groupB, subB]] = [parts(a), parts(b)]
    return Number(groupA) - Number(groupB) || (subA < subB ? -1 : 1)
  })
}

const step = fc.record({
  act: fc.constantFrom('set', 'set', 'set', 'delete', 'flush', 'fork'),
  which: fc.nat({ max: 3 }),
  key: fc.nat({ max: 40 }),
  name: fc.constantFrom('a', 'b', 'c', 'd', 'é', 'z'.repeat(200)),
  value: fc.nat(),
})

describe('the copy-on-write tree', () => {
  it('holds what a plain map would, in order, through flushes and forks', () => {
    const property = fc.property(fc.array(step, { maxLength: 300 }), (steps) => {
      const { tree, flush } = setUp()
      const all: { tree: Tree<{ n: number }>; model: Model }[] = [{ tree, model: new Map() }]
      for (const { act, which, key, name, value } of steps) {
        const chosen = all[which % all.length]
        if (chosen === undefined) continue
        const place = `${group(key)}/${name}`
        if (act === 'set') chosen.tree.set(group(key), name, { n: value })
        if (act === 'set') chosen.model.set(place, value)
        if (act === 'delete') expect(chosen.tree.delete(group(key), name)).toBe(chosen.model.delete(place))
        if (act === 'flush') flush(chosen.tree)
        if (act === 'fork' && all.length < 4)
          all.push({ tree: chosen.tree.fork(), model: new Map(chosen.model) })
      }
      for (const { tree, model } of all) expect(contentOf(tree)).toEqual(sorted(model))
    })
    fc.assert(property, { numRuns: 150 })
  })

  it('keeps everything where smaller and smaller keys come in', () => {
    const { tree, flush } = setUp()
    const model: Model = new Map()
    for (let key = 600; key >= 0; key--) {
      tree.set(group(key), 'name', { n: key })
      model.set(`${group(key)}/name`, key)
      if (key % 50 === 0) flush(tree)
    }
    expect(contentOf(tree)).toEqual(sorted(model))
  })

  it('reads a page of earlier versions in which the second key is smaller than the first', () => {
    const codec = new PageCodec(numbers)
    const writer = new ByteWriter()
    for (const byte of [1, 1, 3]) writer.byte(byte)
    // Group 6, then 4 less in one byte, then 640 more.
    for (const [write, sub, child] of [
      [() => writer.varint(6), 'counters', 11],
      [() => writer.byte(0xfc), '2839', 12],
      [() => writer.varint(639), 'name', 13],
    ] as const) {
      write()
      writer.text(sub)
      writer.varint(child)
    }
    writer.uint32(crc32(writer.view()))
    const node = codec.decode(1, writer.takeBytes())
    expect(node).toMatchObject({
      groups: [6, 2, 641],
      subs: ['counters', '2839', 'name'],
      children: [11, 12, 13],
    })
    // Written again, its keys are in order: the first one is never compared.
    expect(codec.decode(2, codec.encode(node))).toMatchObject({
      groups: [2, 2, 641],
      subs: ['', '2839', 'name'],
    })
  })

  it('finds exactly the differences of two relatives', () => {
    const edits = fc.array(fc.tuple(fc.nat({ max: 400 }), fc.option(fc.nat(), { nil: null })), {
      maxLength: 80,
    })
    const property = fc.property(
      edits,
      edits,
      fc.boolean(),
      fc.boolean(),
      (first, second, flushesFirst, flushesSecond) => {
        const { tree, flush, cache } = setUp(64)
        for (let key = 0; key < 300; key++) tree.set(group(key), 'name', { n: key })
        flush(tree)
        const apply = (edits: [number, number | null][], isFolded: boolean) => {
          const fork = tree.fork()
          const model = new Map<number, number>(Array.from({ length: 300 }, (_, key) => [key, key]))
          for (const [key, value] of edits) {
            if (value === null) fork.delete(group(key), 'name')
            else fork.set(group(key), 'name', { n: value })
            if (value === null) model.delete(key)
            else model.set(key, value)
          }
          return { root: isFolded ? flush(fork) : fork.snapshot(), model }
        }
        const [a, b] = [apply(first, flushesFirst), apply(second, flushesSecond)]
        const found = diffTrees(cache, a.root, b.root, isEqual)
        const keys = [...new Set([...a.model.keys(), ...b.model.keys()])].sort((x, y) => x - y)
        const expected = keys
          .filter((key) => a.model.get(key) !== b.model.get(key))
          .map((key) => [group(key), a.model.get(key), b.model.get(key)])
        expect(found.map(({ group, before, after }) => [group, before?.n, after?.n])).toEqual(expected)
      },
    )
    fc.assert(property, { numRuns: 100 })
  })

  it('reads few pages to find one change among many', () => {
    const { tree, flush, pages } = setUp(100_000)
    for (let key = 0; key < 50_000; key++) tree.set(group(key), 'name', { n: key })
    const before = flush(tree)
    tree.set(group(25_000), 'name', { n: 0 })
    const after = flush(tree)
    let loads = 0
    const codec = new PageCodec(numbers)
    const readPage = (id: number) => {
      loads++
      return pages.get(id)
    }
    const changes = diffTrees(new NodeCache({ codec, readPage, capacity: 1_000_000 }), before, after, isEqual)
    expect(changes).toHaveLength(1)
    expect(loads).toBeLessThan(10)
  })

  it('refuses a page with any single bit flipped', () => {
    const { tree, flush, pages } = setUp()
    for (let key = 0; key < 10; key++) tree.set(group(key), `name ${key}`, { n: key })
    const root = flush(tree)
    const page = pages.get(root) ?? new Uint8Array()
    const codec = new PageCodec(numbers)
    expect(codec.decode(root, page).groups).toHaveLength(10)
    for (let bit = 0; bit < page.length * 8; bit++) {
      const flipped = new Uint8Array(page)
      flipped[bit >> 3] = (flipped[bit >> 3] ?? 0) ^ (1 << (bit & 7))
      expect(() => codec.decode(root, flipped)).toThrow(/damaged/)
    }
  })
})
