import { createHash } from 'node:crypto'
import fc from 'fast-check'
import { describe, expect, it } from 'vitest'
import { Sha256 } from './sha256.ts'

describe('Sha256', () => {
  it('hashes as node:crypto does, however the content is cut', () => {
    const chunks = fc.array(fc.uint8Array({ maxLength: 200 }), { maxLength: 6 })
    fc.assert(
      fc.property(chunks, (parts) => {
        const ours = new Sha256()
        const reference = createHash('sha256')
        for (const part of parts) {
          ours.update(part)
          reference.update(part)
        }
        expect(ours.digest()).toBe(reference.digest('hex'))
      }),
      { numRuns: 300 },
    )
  })

  it.each([55, 56, 63, 64, 65, 119, 120])('pads %i bytes', (length) => {
    const ours = new Sha256()
    ours.update(new Uint8Array(length).fill(7))
    expect(ours.digest()).toBe(createHash('sha256').update(new Uint8Array(length).fill(7)).digest('hex'))
  })
})
