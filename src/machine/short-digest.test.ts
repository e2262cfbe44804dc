import { createHash } from 'node:crypto'
import fc from 'fast-check'
import { expect, it } from 'vitest'
import { computeShortDigest } from './short-digest.ts'

it('returns the digest that node:crypto returns, for texts of any length', () => {
  const lengths = Array.from({ length: 200 }, (_, length) => 'é'.repeat(length % 3) + 'x'.repeat(length))
  for (const text of lengths) expect(computeShortDigest(text)).toBe(digest(text))
  fc.assert(
    fc.property(fc.string({ unit: 'grapheme', maxLength: 300 }), (text) => {
      expect(computeShortDigest(text)).toBe(digest(text))
    }),
  )
})

function digest(text: string): string {
  return createHash('sha256').update(text).digest('hex')
}
