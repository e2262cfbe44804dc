import fc from 'fast-check'
import { describe, expect, it } from 'vitest'
import { splitCode } from './code-pieces.ts'
import { compareLines } from './intraline.ts'

const word = fc.constantFrom('const', ' ', 'x', '"a b"', '// end', '42', '`', '\t', '=', '🌲')
const line = fc.array(word).map((words) => words.join(''))

describe('a line of code in pieces', () => {
  it('keeps its text and the marks of its words', () => {
    fc.assert(
      fc.property(line, line, (before, after) => {
        const spans = compareLines(before, after)?.after ?? []
        const pieces = splitCode(after, '/a.ts', spans)
        expect(pieces.map(({ text }) => text).join('')).toBe(after)
        const marked = (parts: readonly { text: string; isChanged: boolean }[]) =>
          parts.flatMap(({ text, isChanged }) => (isChanged ? text : [])).join('')
        expect(marked(pieces)).toBe(marked(spans))
      }),
      { numRuns: 300 },
    )
  })

  it('has colours for what it knows, and none for other files', () => {
    const kinds = (path: string) =>
      splitCode('const a = "x" // 1', path).flatMap(({ kind, text }) =>
        kind === '' ? [] : `${kind} ${text}`,
      )
    expect(kinds('/a.ts')).toEqual(['keyword const', 'string "x"', 'comment // 1'])
    expect(kinds('/a.txt')).toEqual([])
  })
})
