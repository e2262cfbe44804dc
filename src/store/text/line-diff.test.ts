import fc from 'fast-check'
import { describe, expect, it } from 'vitest'
import { diffLines } from './index.ts'

describe('diffLines', () => {
  it('returns which lines replace which, and their positions', () => {
    const old = ['a', 'b', 'c', 'd', 'e']
    expect(diffLines(old, ['a', 'B', 'c', 'e', 'f'])).toEqual([
      { oldStart: 1, oldLines: ['b'], newStart: 1, newLines: ['B'] },
      { oldStart: 3, oldLines: ['d'], newStart: 3, newLines: [] },
      { oldStart: 5, oldLines: [], newStart: 4, newLines: ['f'] },
    ])
    expect(diffLines(old, old)).toEqual([])
    expect(diffLines([], [])).toEqual([])
  })

  it('makes the new list of the old one, whatever they are', () => {
    const line = fc.oneof(
      fc.constantFrom('', 'a', 'b', 'constructor', '__proto__'),
      fc.string({ maxLength: 2 }),
    )
    const list = fc.array(line, { maxLength: 60 })
    fc.assert(fc.property(list, list, expectToLead), { numRuns: 2000 })
  })

  it('keeps every line that was not touched where lines are unique', () => {
    const edits = fc.uniqueArray(fc.nat({ max: 199 }), { maxLength: 30 })
    const old = numberedLines(200)
    fc.assert(
      fc.property(edits, (places) => {
        const now = old.map((line, at) => (places.includes(at) ? `changed ${line}` : line))
        const gone = diffLines(old, now).flatMap(({ oldLines }) => oldLines)
        expect(gone).toEqual(old.filter((_, at) => places.includes(at)))
      }),
    )
  })

  it('finds few changes among many equal lines', () => {
    const old = new Array<string>(20_000).fill('same')
    const now = old.toSpliced(15_000, 0, 'two').toSpliced(7000, 0, 'one')
    expect(diffLines(old, now).map(({ newStart, newLines }) => [newStart, ...newLines])).toEqual([
      [7000, 'one'],
      [15_001, 'two'],
    ])
    expect(diffLines(old, [...old, 'same'])).toHaveLength(1)
  })

  it.each([
    ['every second line empty, the others rewritten', everySecondEmpty('old'), everySecondEmpty('new')],
    ['every second line empty, turned round', everySecondEmpty('old'), everySecondEmpty('old').toReversed()],
    ['unique lines that show only one after the other', unfolding('old'), unfolding('new')],
    ['a few different lines in no order', scattered(3), scattered(5)],
    ['more lines than a call takes arguments', numberedLines(300_000), numberedLines(300_000).toReversed()],
  ])('gets through long lists: %s', (_, old, now) => expectToLead(old, now))

  it('pairs empty lines where all others are new', () => {
    expect(diffLines(everySecondEmpty('old'), everySecondEmpty('new'))).toHaveLength(50_000)
  })
})

function numberedLines(count: number): string[] {
  return Array.from({ length: count }, (_, at) => `line ${at}`)
}

function everySecondEmpty(name: string): string[] {
  return Array.from({ length: 100_000 }, (_, at) => (at % 2 === 0 ? `${name} ${at}` : ''))
}

/** Lines of which one is unique, and the next only where the list is cut at the one before. */
function unfolding(name: string): string[] {
  const steps = Array.from({ length: 30_000 }, (_, at) => [`step ${at + 1}`, `${name} ${at}`, `step ${at}`])
  return ['step 0', 'only', ...steps.flat()]
}

function scattered(seed: number): string[] {
  let state = seed
  return Array.from({ length: 30_000 }, () => {
    state = (Math.imul(state, 1_103_515_245) + 12_345) >>> 0
    return String((state >>> 16) % 4)
  })
}

/** Applies the changes, and holds every line they take away, and where they begin, against the lists. */
function expectToLead(old: readonly string[], now: readonly string[]): void {
  const changes = diffLines(old, now)
  const result: (readonly string[])[] = []
  let [oldAt, newAt] = [0, 0]
  const isSound = changes.every(({ oldStart, oldLines, newStart, newLines }, index) => {
    const kept = old.slice(oldAt, oldStart)
    const isApart = index === 0 || kept.length > 0
    const isInPlace =
      newStart === newAt + kept.length && oldLines.every((line, at) => line === old[oldStart + at])
    result.push(kept, newLines)
    oldAt = oldStart + oldLines.length
    newAt = newStart + newLines.length
    return isApart && isInPlace && oldLines.length + newLines.length > 0
  })
  expect(isSound).toBe(true)
  const led = [...result, old.slice(oldAt)].flat()
  expect(led.length === now.length && led.every((line, at) => line === now[at])).toBe(true)
}
