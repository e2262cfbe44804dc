import fc from 'fast-check'
import { describe, expect, it } from 'vitest'
import { splitLines } from './hunks.ts'
import { formatUnifiedDiff } from './unified-diff.ts'

describe('formatUnifiedDiff', () => {
  it('shows changed lines between three lines of context', () => {
    const old = ['1', '2', '3', '4', '5', '6', '7', '8', '9', ''].join('\n')
    expect(formatUnifiedDiff(old, old.replace('5', 'five'))).toEqual([
      '@@ -2,7 +2,7 @@',
      ' 2',
      ' 3',
      ' 4',
      '-5',
      '+five',
      ' 6',
      ' 7',
      ' 8',
    ])
  })

  it('marks a missing newline at the end', () => {
    expect(formatUnifiedDiff('a\n', 'a')).toEqual(['@@ -1 +1 @@', '-a', '+a', '\\ No newline at end of file'])
  })

  it('counts from the line before if one side is empty', () => {
    expect(formatUnifiedDiff('', 'a\nb\n')).toEqual(['@@ -0,0 +1,2 @@', '+a', '+b'])
    expect(formatUnifiedDiff('a\nb\n', '')).toEqual(['@@ -1,2 +0,0 @@', '-a', '-b'])
  })

  it('has no limit to the lines of a change', () => {
    expect(formatUnifiedDiff('', 'x\n'.repeat(300_000))).toHaveLength(300_001)
  })

  it('is empty for equal texts', () => expect(formatUnifiedDiff('a\nb', 'a\nb')).toEqual([]))

  it('turns the old text into the new one, for any texts', () => {
    const line = fc.constantFrom('', 'a', 'b', 'constructor', '__proto__', '-', '+', ' @@')
    const text = fc
      .tuple(fc.array(line, { maxLength: 30 }), fc.boolean())
      .map(([lines, ends]) => lines.join('\n') + (ends && lines.length > 0 ? '\n' : ''))
    fc.assert(
      fc.property(text, text, (old, now) => {
        expect(applied(old, formatUnifiedDiff(old, now))).toBe(now)
      }),
      { numRuns: 2000 },
    )
  })
})

/** Applies hunks as `patch` does, and holds every line of context and removal against the old text. */
function applied(old: string, patch: readonly string[]): string {
  const lines = splitLines(old)
  const result: string[] = []
  let at = 0
  for (const [index, line] of patch.entries()) {
    const content = patch[index + 1]?.startsWith('\\') ? line.slice(1) : `${line.slice(1)}\n`
    if (line.startsWith('@@')) {
      const [, start = '0', , count = '1'] = line.match(/^@@ -(\d+)(,(\d+))?/) ?? []
      const first = count === '0' ? Number(start) : Number(start) - 1
      result.push(...lines.slice(at, first))
      at = first
    } else if (line.startsWith('+')) result.push(content)
    else if (!line.startsWith('\\')) {
      expect(lines[at++]).toBe(content)
      if (line.startsWith(' ')) result.push(content)
    }
  }
  return [...result, ...lines.slice(at)].join('')
}
