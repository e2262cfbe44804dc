import fc from 'fast-check'
import { describe, expect, it } from 'vitest'
import { readTextWindow } from './text-window.ts'

describe('textWindow', () => {
  it('returns the same lines as splitting the whole text, in any chunks', async () => {
    const text = fc.array(fc.constantFrom('a', 'ü', '🌲', '\n', '\r\n', ' ', 'bc'), { maxLength: 30 })
    const lines = fc.nat({ max: 8 })
    await fc.assert(
      fc.asyncProperty(
        text,
        lines,
        lines,
        fc.integer({ min: 1, max: 5 }),
        async (parts, offset, limit, size) => {
          const whole = parts.join('')
          const all = whole.split('\n')
          expect(await readTextWindow(pieces(whole, size), offset, limit)).toEqual({
            text: all.slice(offset, offset + limit).join('\n'),
            totalLines: all.at(-1) === '' ? all.length - 1 : all.length,
            isBlank: whole.trim() === '',
          })
        },
      ),
    )
  })
})

/** Bytes in pieces of a size, which cuts characters in two. */
async function* pieces(text: string, size: number): AsyncGenerator<Uint8Array> {
  const bytes = Buffer.from(text)
  for (let at = 0; at < bytes.length; at += size) yield bytes.subarray(at, at + size)
}
