import fc from 'fast-check'
import { describe, expect, it } from 'vitest'
import { EventLines } from './event-lines.ts'

describe('the lines of an event stream', () => {
  it('give the same events however the text is cut', () => {
    const event = fc.record({
      id: fc.nat(),
      data: fc.array(fc.string({ unit: 'grapheme' }), { minLength: 1 }),
    })
    fc.assert(
      fc.property(fc.array(event), fc.infiniteStream(fc.integer({ min: 1, max: 9 })), (events, sizes) => {
        const clean = events.map(({ id, data }) => ({
          id,
          data: data.map((line) => line.replaceAll(/[\r\n]/g, '')),
        }))
        const text = clean
          .map(({ id, data }) => `: \n\nid: ${id}\n${data.map((line) => `data: ${line}\n`).join('')}\n`)
          .join('')
        const lines = new EventLines()
        const found = cut(text, sizes).flatMap((part) => lines.push(part))
        expect(found).toEqual(
          clean.map(({ id, data }) => ({ id: String(id), name: 'message', data: data.join('\n') })),
        )
      }),
      { numRuns: 200 },
    )
  })
})

function cut(text: string, sizes: Iterator<number>): string[] {
  const parts: string[] = []
  for (let at = 0; at < text.length; ) {
    const size = sizes.next().value ?? 1
    parts.push(text.slice(at, at + size))
    at += size
  }
  return parts
}
