import fc from 'fast-check'
import { describe, expect, it } from 'vitest'
import { TextSearch } from './text-search.ts'

const letters = (options: fc.StringConstraints) => fc.string({ unit: fc.constantFrom('a', 'b'), ...options })

function placesByIndexOf(text: string, find: string, step: number): number[] {
  const places: number[] = []
  for (let at = text.indexOf(find); at !== -1; at = text.indexOf(find, at + step)) places.push(at)
  return places
}

describe('a search for a text', () => {
  it('finds the same as indexOf, also in repetitive texts', () => {
    const cases = fc.record({
      head: letters({ maxLength: 60 }),
      find: fc.oneof(
        letters({ minLength: 1, maxLength: 40 }),
        letters({ minLength: 1, maxLength: 3 }).map((unit) => unit.repeat(20)),
      ),
      tail: letters({ maxLength: 60 }),
    })
    fc.assert(
      fc.property(cases, ({ head, find, tail }) => {
        const search = new TextSearch(find)
        for (const text of [head + find + tail, head + tail, head + find.slice(1) + find + find + tail]) {
          const places = (canOverlap: boolean) =>
            [...search.findMatches(text, canOverlap)].filter((at) => at !== null)
          expect(places(true)).toEqual(placesByIndexOf(text, find, 1))
          expect(places(false)).toEqual(placesByIndexOf(text, find, find.length))
          expect(search.isFoundIn(text)).toBe(text.includes(find))
        }
      }),
      { numRuns: 500 },
    )
  })

  it('finds matches across the parts it reads', () => {
    const find = 'needle in the haystack'
    for (let at = 65_500; at < 65_560; at++) {
      const found = [...new TextSearch(find).findMatches(`${' '.repeat(at)}${find}`, true)]
      expect(found.filter((place) => place !== null)).toEqual([at])
    }
  })
})
