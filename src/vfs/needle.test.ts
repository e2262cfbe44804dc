import fc from 'fast-check'
import { describe, expect, it } from 'vitest'
import { contains, createNeedle } from './needle.ts'

describe('a needle', () => {
  /** Few letters, frequent and rare, so that near misses are many. */
  const text = (maxLength: number) =>
    fc.string({ unit: fc.constantFrom('e', 'a', 'q', '#', 'é', '🎉', '\n'), maxLength })

  it('is found exactly where the runtime would find it', () => {
    const property = fc.property(text(40), text(5), (haystack, wanted) => {
      const needle = createNeedle(wanted)
      const expected = wanted === '' ? null : Buffer.from(haystack).includes(wanted)
      expect(needle && contains(Buffer.from(haystack), needle)).toBe(expected)
    })
    fc.assert(property, { numRuns: 2000 })
  })

  it('is found at both ends, and not in shorter bytes', () => {
    for (const wanted of ['#ee', 'e#e', 'ee#', 'eee']) {
      const needle = createNeedle(wanted)
      const isIn = (haystack: string) => needle && contains(Buffer.from(haystack), needle)
      for (const haystack of [wanted, `${wanted}aa`, `aa${wanted}`, `aa${wanted.slice(0, 2)}${wanted}`]) {
        expect(isIn(haystack), `${wanted} in ${haystack}`).toBe(true)
      }
      for (const haystack of ['', wanted.slice(1), wanted.slice(0, 2), 'a']) {
        expect(isIn(haystack), `${wanted} in ${haystack}`).toBe(false)
      }
    }
  })

  it('is searched only within the given part of a buffer', () => {
    const needle = createNeedle('ab')
    const whole = Buffer.from('xabx')
    expect(needle && contains(whole.subarray(2), needle)).toBe(false)
    expect(needle && contains(whole.subarray(0, 2), needle)).toBe(false)
    expect(needle && contains(whole.subarray(1, 3), needle)).toBe(true)
  })

  it('is null for text without a unique byte form: empty, half a character, or U+FFFD', () => {
    for (const wanted of ['', '\ud83c', 'a\udf89', 'a\ufffdb']) expect(createNeedle(wanted)).toBeNull()
  })
})
