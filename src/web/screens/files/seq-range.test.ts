import fc from 'fast-check'
import { describe, expect, it } from 'vitest'
import { moveRange, zoomRange } from './seq-range.ts'
import { listAncestors } from './tree-rows.ts'

describe('the part of a history that the slider shows', () => {
  it('always has the moment, and never leaves the history', () => {
    const rows = fc.integer({ min: 1, max: 100_000 })
    fc.assert(
      fc.property(rows, fc.array(fc.tuple(rows, fc.constantFrom(0.5, 2))), (last, zooms) => {
        const whole = { from: 1, to: last }
        let shown = whole
        for (const [row, factor] of zooms) {
          const seq = Math.min(shown.to, Math.max(shown.from, row))
          shown = zoomRange(shown, seq, factor, whole) ?? whole
          expect(shown.from).toBeGreaterThanOrEqual(1)
          expect(shown.to).toBeLessThanOrEqual(last)
          expect(seq).toBeGreaterThanOrEqual(shown.from)
          expect(seq).toBeLessThanOrEqual(shown.to)
        }
      }),
      { numRuns: 200 },
    )
  })
})

it('a closer view goes along with a moment outside of it, at the same length', () => {
  const whole = { from: 1, to: 100 }
  const range = { from: 40, to: 60 }
  expect(moveRange(range, 60, whole)).toBe(range)
  expect(moveRange(range, 20, whole)).toEqual({ from: 10, to: 30 })
  expect(moveRange(range, 2, whole)).toEqual({ from: 1, to: 21 })
  expect(moveRange(range, 100, whole)).toEqual({ from: 80, to: 100 })
})

it('the directories of a path begin with the root', () => {
  expect(listAncestors('/src/web/a.ts')).toEqual(['/', '/src', '/src/web'])
  expect(listAncestors('/')).toEqual(['/'])
})
