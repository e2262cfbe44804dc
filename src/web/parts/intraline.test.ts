import fc from 'fast-check'
import { describe, expect, it } from 'vitest'
import { compareLines, type LineSpan } from './intraline.ts'

const join = (spans: readonly LineSpan[], isChanged?: boolean) =>
  spans
    .filter((span) => isChanged === undefined || span.isChanged === isChanged)
    .map(({ text }) => text)
    .join('')

describe('the words that changed in a line', () => {
  it('are marked on both sides, and nothing else is', () => {
    const pair = compareLines('let sum = "" // total', 'let sum = 0 // total')
    expect(pair && [join(pair.before, true), join(pair.after, true)]).toEqual(['""', '0'])
  })

  it('are not marked where the lines have little in common', () => {
    expect(compareLines('return null', 'for (const item of items) sum += item.price')).toBeUndefined()
  })

  it('keep both texts, and agree on what is common', () => {
    const line = fc
      .array(fc.constantFrom('a', 'b ', 'value', '(', ')', '  ', 'ü', '🌲'))
      .map((words) => words.join(''))
    fc.assert(
      fc.property(line, line, (before, after) => {
        const pair = compareLines(before, after)
        if (pair === undefined) return
        expect([join(pair.before), join(pair.after)]).toEqual([before, after])
        expect(join(pair.before, false)).toBe(join(pair.after, false))
      }),
      { numRuns: 500 },
    )
  })

  it('are found by the ends of a very long line', () => {
    const long = 'word '.repeat(2000)
    const pair = compareLines(`${long}old${long}`, `${long}new${long}`)
    expect(pair && join(pair.before, true)).toBe('oldword')
  })
})
