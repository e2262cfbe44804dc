import fc from 'fast-check'
import { describe, expect, it } from 'vitest'
import { OrderedMap } from './ordered-map.ts'

/** The first `count` names, in an order that is neither sorted nor reversed. */
function shuffledNames(count: number): string[] {
  // 7919 is prime, so that every index comes once.
  return Array.from({ length: count }, (_, index) => name((index * 7919) % count))
}

function name(index: number): string {
  return `name-${index}`
}

function mapOf(names: Iterable<string>): OrderedMap<string> {
  const map = new OrderedMap<string>({})
  for (const key of names) map.set(key, key.toUpperCase())
  return map
}

function expectSame(map: OrderedMap<string>, model: ReadonlyMap<string, string>): void {
  expect(map.size).toBe(model.size)
  expect([...map.entries()]).toEqual([...model].sort(([a], [b]) => (a < b ? -1 : 1)))
}

describe('a map', () => {
  it('returns the entries in the order of the names', () => {
    const map = mapOf(['b', 'a', 'B', 'é', '', '__proto__', '10', '9', '\uffff', '🎉'])
    expect([...map.entries()].map(([key]) => key)).toEqual([
      '',
      '10',
      '9',
      'B',
      '__proto__',
      'a',
      'b',
      'é',
      '🎉',
      '\uffff',
    ])
    expect(map.get('__proto__')).toBe('__PROTO__')
    expect(map.get('constructor')).toBeUndefined()
  })

  it('counts a name once, however often it is set', () => {
    const map = mapOf(['a', 'b', 'a'])
    map.set('a', 'changed')
    expect(map.size).toBe(2)
    expect(map.get('a')).toBe('changed')
    expect([...map.entries()]).toEqual([
      ['a', 'changed'],
      ['b', 'B'],
    ])
  })

  it('lists the current value of a name, however often it was listed before', () => {
    const map = mapOf(['a', 'b'])
    const fork = map.fork({})
    for (const value of ['one', 'two']) {
      expect([...fork.entries()].length).toBe(2)
      fork.set('b', value)
      expect([...fork.entries()]).toEqual([
        ['a', 'A'],
        ['b', value],
      ])
    }
    expect([...map.entries()].map(([, value]) => value)).toEqual(['A', 'B'])
  })

  it('reports whether a key was deleted', () => {
    const map = mapOf(['a'])
    expect(map.delete('b')).toBe(false)
    expect(map.delete('a')).toBe(true)
    expect(map.delete('a')).toBe(false)
    expect(map.size).toBe(0)
  })

  it('keeps values of any kind, each with its own name', () => {
    const map = new OrderedMap<readonly number[]>({})
    map.set('a', [1, 2])
    map.set('b', [])
    map.set('c', [3])
    expect([...map.entries()]).toEqual([
      ['a', [1, 2]],
      ['b', []],
      ['c', [3]],
    ])
  })
})

describe('100,000 names', () => {
  const names = shuffledNames(100_000)
  const full = mapOf(names)

  it('are listed in order, whatever the order of insertion', () => {
    expect(full.size).toBe(100_000)
    const sorted = names.toSorted()
    const keys = [...full.entries()].map(([key]) => key)
    // Not toEqual: its report on a large difference takes minutes.
    expect(keys.length).toBe(sorted.length)
    expect(keys.findIndex((key, at) => key !== sorted[at])).toBe(-1)
    expect(names.find((key) => full.get(key) !== key.toUpperCase())).toBeUndefined()
  })

  it.each([
    ['in order', (all: string[]) => all.toSorted()],
    ['in reverse', (all: string[]) => all.toSorted().reverse()],
    ['at random', (all: string[]) => shuffledNames(all.length).reverse()],
  ])('can all be deleted %s, and the map used again', (_order, arrange) => {
    const map = full.fork({})
    expect(arrange(names).find((key) => !map.delete(key))).toBeUndefined()
    expect(map.size).toBe(0)
    expect([...map.entries()]).toEqual([])
    map.set('after', 'AFTER')
    expect([...map.entries()]).toEqual([['after', 'AFTER']])
    expect(full.size).toBe(100_000)
  })

  it('can be deleted down to any subset', () => {
    const map = full.fork({})
    for (const [index, key] of names.entries()) if (index % 1000 !== 0) map.delete(key)
    const left = names.filter((_, index) => index % 1000 === 0)
    expectSame(map, new Map(left.map((key) => [key, key.toUpperCase()])))
  })
})

describe('a fork', () => {
  it("and its origin do not see each other's changes", () => {
    const origin = mapOf(shuffledNames(1000))
    const [left, right] = [origin.fork({}), origin.fork({})]
    for (let index = 0; index < 1000; index += 2) left.delete(name(index))
    for (let index = 1000; index < 1500; index++) right.set(name(index), 'RIGHT')
    expect([origin.size, left.size, right.size]).toEqual([1000, 500, 1500])
    expect(origin.get(name(2))).toBe('NAME-2')
    expect(left.get(name(1200))).toBeUndefined()
  })

  it('may be changed while its origin is listed', () => {
    const origin = mapOf(shuffledNames(2000))
    const expected = [...origin.entries()]
    const fork = origin.fork({})
    const seen: [string, string][] = []
    for (const [key, value] of origin.entries()) {
      seen.push([key, value])
      fork.delete(name(seen.length))
      fork.set(`${key}-new`, 'NEW')
      fork.set(key, 'CHANGED')
    }
    expect(seen).toEqual(expected)
  })

  it('may be changed while it is listed through a fork of its own', () => {
    const map = mapOf(shuffledNames(2000))
    const snapshot = map.fork({})
    const live = map.fork({})
    const listing = snapshot.leaves()
    const first = listing.next().value
    for (let index = 0; index < 2000; index++) live.delete(name(index))
    let count = first?.keys.length ?? 0
    for (const { keys, values } of listing) {
      expect(keys.length).toBe(values.length)
      count += keys.length
    }
    expect(count).toBe(2000)
    expect(live.size).toBe(0)
  })
})

describe('any sequence of changes and forks', () => {
  /** Names come in runs, so that nodes split and join within few commands. */
  const run = fc.record({
    start: fc.nat({ max: 3000 }),
    count: fc.integer({ min: 1, max: 900 }),
    step: fc.constantFrom(1, 1, 2, 7),
  })
  const command = fc.record({
    kind: fc.constantFrom('set', 'set', 'delete', 'fork'),
    on: fc.nat({ max: 3 }),
    run,
    value: fc.constantFrom('x', 'y'),
  })

  it('leaves every map as a sorted Map would be', () => {
    const property = fc.property(fc.array(command, { minLength: 1, maxLength: 25 }), (commands) => {
      let maps = [{ map: new OrderedMap<string>({}), model: new Map<string, string>() }]
      for (const { kind, on, run, value } of commands) {
        const chosen = maps[on % maps.length]
        if (chosen === undefined) continue
        if (kind === 'fork') {
          // After a fork both sides go on under tokens of their own; the one forked from is only read.
          const sides = [0, 1].map(() => ({ map: chosen.map.fork({}), model: new Map(chosen.model) }))
          maps = [...maps.filter((one) => one !== chosen), ...sides].slice(-4)
          continue
        }
        for (let at = run.start, left = run.count; left > 0; at += run.step, left--) {
          if (kind === 'set') chosen.map.set(name(at), value)
          else expect(chosen.map.delete(name(at))).toBe(chosen.model.has(name(at)))
          if (kind === 'set') chosen.model.set(name(at), value)
          else chosen.model.delete(name(at))
        }
        expect(chosen.map.get(name(run.start))).toBe(chosen.model.get(name(run.start)))
      }
      for (const { map, model } of maps) expectSame(map, model)
    })
    fc.assert(property, { numRuns: 40 })
  })
})
