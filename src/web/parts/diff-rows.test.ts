import fc from 'fast-check'
import { describe, expect, it } from 'vitest'
import type { DiffLine } from '../../web-api/index.ts'
import { listSplitRows, listUnifiedRows } from './diff-rows.ts'

const line: fc.Arbitrary<DiffLine> = fc.record({
  kind: fc.constantFrom('context' as const, 'added' as const, 'removed' as const),
  text: fc.string({ maxLength: 12 }),
  old: fc.constant(1),
  new: fc.constant(1),
})

describe('the rows of a diff', () => {
  it('have every line once, in either view', () => {
    fc.assert(
      fc.property(fc.array(fc.array(line)), (hunks) => {
        const unified = listUnifiedRows(hunks).flatMap((row) => (row.kind === 'line' ? row.line.text : []))
        expect(unified).toEqual(hunks.flat().map(({ text }) => text))
        const split = listSplitRows(hunks)
        const left = split.flatMap((row) => (row.kind === 'pair' && row.left ? row.left.text : []))
        const right = split.flatMap((row) => (row.kind === 'pair' && row.right ? row.right.text : []))
        expect(left).toEqual(listTexts(hunks, 'added'))
        expect(right).toEqual(listTexts(hunks, 'removed'))
      }),
      { numRuns: 200 },
    )
  })
})

function listTexts(hunks: readonly (readonly DiffLine[])[], without: DiffLine['kind']): string[] {
  return hunks
    .flat()
    .filter(({ kind }) => kind !== without)
    .map(({ text }) => text)
}
