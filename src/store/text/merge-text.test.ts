import { spawnSync } from 'node:child_process'
import { mkdtempSync, rmSync, writeFileSync } from 'node:fs'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import fc from 'fast-check'
import { describe, expect, it, onTestFinished } from 'vitest'
import { type MergedText, mergeText } from './index.ts'

const hasGit = spawnSync('git', ['--version']).status === 0

const anyText = fc
  .array(fc.constantFrom('', 'a', 'b', 'c', 'constructor', '\r'), { maxLength: 20 })
  .map((lines) => lines.join('\n'))

describe('a merge of texts', () => {
  it('is the other side where one changed nothing, and either where both did the same', () => {
    fc.assert(
      fc.property(anyText, anyText, (base, changed) => {
        for (const [ours, theirs] of [
          [base, changed],
          [changed, base],
          [changed, changed],
        ] as const) {
          expect(merged(base, ours, theirs)).toEqual({ text: changed, hasConflict: false })
        }
      }),
      { numRuns: 2000 },
    )
  })

  it('has the changes of both sides where they lie apart', () => {
    const places = fc.uniqueArray(fc.nat({ max: 100 }), { minLength: 2, maxLength: 30 })
    const kinds = fc.array(fc.constantFrom('insert', 'delete', 'replace'), { minLength: 30, maxLength: 30 })
    fc.assert(
      fc.property(places, kinds, fc.boolean(), (chosen, kindAt, isEnded) => {
        const edits = chosen.map((place, index) => ({ at: place * 3, kind: kindAt[index] ?? 'insert' }))
        const isOurs = (_: unknown, index: number) => index % 2 === 0
        const ours = edited(edits.filter(isOurs), isEnded)
        const theirs = edited(
          edits.filter((edit, index) => !isOurs(edit, index)),
          isEnded,
        )
        expect(merged(edited([], isEnded), ours, theirs)).toEqual({
          text: edited(edits, isEnded),
          hasConflict: false,
        })
      }),
    )
  })

  it('has every line that a side brought, if it is clean', () => {
    const line = fc.constantFrom<string>('', 'a', 'b')
    const places = fc.uniqueArray(fc.nat({ max: 30 }), { maxLength: 3 })
    const seen = new Set<boolean>()
    fc.assert(
      fc.property(fc.array(line, { maxLength: 30 }), places, places, (base, ourPlaces, theirPlaces) => {
        const [ours, theirs] = [bringing('ours', ourPlaces, base), bringing('theirs', theirPlaces, base)]
        const { text, hasConflict } = merged(base.join('\n'), ours.join('\n'), theirs.join('\n'))
        seen.add(hasConflict)
        if (hasConflict) return
        const brought = text.split('\n').filter((found) => /^(ours|theirs)/.test(found))
        expect(brought).toHaveLength(ours.length + theirs.length - 2 * base.length)
        expect(brought).toEqual(
          expect.arrayContaining([...ours, ...theirs].filter((one) => !base.includes(one))),
        )
      }),
      { numRuns: 500 },
    )
    expect(seen.size).toBe(2)
  })

  it('marks changes that overlap or touch, unless they are the same', () => {
    const text = ['<<<<<<< ours', '2', 'b', '=======', 'B', '3', '>>>>>>> theirs'].join('\n')
    expect(merged('1\n2\n3\n', '1\n2\nb\n', '1\nB\n3\n')).toEqual({ text: `1\n${text}\n`, hasConflict: true })
    expect(merged('1\n2\n3\n4\n', '1\nx\n3\n', '1\nx\n3\n4\n')).toEqual({
      text: '1\nx\n3\n',
      hasConflict: false,
    })
  })

  it('keeps a newline at the end, and does without where a side took it away', () => {
    expect(merged('1\n2\n3\n', '1\n2\n3', 'one\n2\n3\n').text).toBe('one\n2\n3')
    expect(merged('1\n2\n3', '1\n2\n3\n', 'one\n2\n3').text).toBe('one\n2\n3\n')
    expect(merged('a', 'b', 'c').text).toBe('<<<<<<< ours\nb\n=======\nc\n>>>>>>> theirs')
    expect(merged('a\n', 'b', 'c\n').text).toBe('<<<<<<< ours\nb\n=======\nc\n>>>>>>> theirs\n')
    expect(merged('', 'b\n', '').text).toBe('b\n')
    expect(merged('b\n', '', 'b\n').text).toBe('')
  })

  it('does not take an empty line at the end for the end', () => {
    expect(merged('x\n', 'x\n\n', 'x\ny\n').text).toBe('x\n<<<<<<< ours\n\n=======\ny\n>>>>>>> theirs\n')
  })

  it('leaves carriage returns where they are', () => {
    expect(merged('1\r\n2\r\n3\r\n', 'one\r\n2\r\n3\r\n', '1\r\n2\r\nthree\r\n').text).toBe(
      'one\r\n2\r\nthree\r\n',
    )
    expect(merged('1\r\n2\r\n', '1\n2\n', '1\r\ntwo\r\n').hasConflict).toBe(true)
  })

  it('ends markers as the lines of ours end', () => {
    const crlf = (text: string) => text.replaceAll('\n', '\r\n')
    for (const [base, ours, theirs] of [
      ['1\n2\n3\n', '1\nb\n3\n', '1\nc\n3\n'],
      ['1\n2\n', '1\nb\n', '1\nc\n'],
      ['1\n2', '1\nb', '1\nc'],
      ['1\n2\n', '1\nb', '1\nc\n'],
    ] as const) {
      const expected = { text: crlf(merged(base, ours, theirs).text), hasConflict: true }
      expect(merged(crlf(base), crlf(ours), crlf(theirs))).toEqual(expected)
    }
  })

  it('gets through long texts of repeated lines', () => {
    const base = Array.from({ length: 100_000 }, (_, at) => (at % 2 === 0 ? `line ${at}` : ''))
    const changed = (place: number, sign: string) =>
      base.map((line, at) => (at % 100 === place ? sign + line : line))
    const both = changed(0, 'o').map((line, at) => (at % 100 === 50 ? `t${line}` : line))
    const result = merged(base.join('\n'), changed(0, 'o').join('\n'), changed(50, 't').join('\n'))
    expect(result.hasConflict).toBe(false)
    expect(result.text === both.join('\n')).toBe(true)
  })
})

describe.skipIf(!hasGit)('a merge of texts beside that of git', () => {
  it('is the same where lines are unique, and a conflict where it is one there', () => {
    const git = gitMerges()
    const edit = fc.record({
      at: fc.nat({ max: 12 }),
      kind: fc.constantFrom('insert', 'delete', 'replace', 'both'),
      // Both sides may bring the same line to the same place.
      name: fc.constantFrom('own', 'same'),
    })
    const edits = fc.uniqueArray(edit, { maxLength: 5, selector: ({ at }) => at })
    const seen = new Set<boolean>()
    fc.assert(
      fc.property(edits, edits, (ourEdits, theirEdits) => {
        const [base, ours, theirs] = [lines([], ''), lines(ourEdits, 'ours'), lines(theirEdits, 'theirs')]
        const [result, expected] = [merged(base, ours, theirs), git(base, ours, theirs)]
        expect(result.hasConflict).toBe(expected.hasConflict)
        if (!result.hasConflict) expect(result.text).toBe(expected.text)
        seen.add(result.hasConflict)
      }),
      { numRuns: 120 },
    )
    expect(seen.size).toBe(2)
  })
})

function merged(base: string, ours: string, theirs: string): MergedText {
  return mergeText({ base, ours, theirs }, { ours: 'ours', theirs: 'theirs' })
}

/** The lines with one more before each of some places. */
function bringing(side: string, places: readonly number[], base: readonly string[]): string[] {
  return base.flatMap((line, at) => (places.includes(at) ? [`${side} ${at}`, line] : [line]))
}

interface Edit {
  readonly at: number
  readonly kind: string
  readonly name?: string
}

/** Three hundred lines and more with edits, each of which brings a line no other does. */
function edited(edits: readonly Edit[], isEnded: boolean): string {
  return lines(edits, '', 303).slice(0, isEnded ? undefined : -1)
}

function lines(edits: readonly Edit[], side: string, count = 13): string {
  const places = new Map(edits.map((edit) => [edit.at, edit]))
  const result = Array.from({ length: count }, (_, at) => {
    const edit = places.get(at)
    const brought = `${edit?.name === 'own' ? side : 'brought'} ${at}\n`
    if (edit?.kind === 'insert') return `${brought}line ${at}\n`
    if (edit?.kind === 'both') return `${brought}more ${brought}`
    if (edit?.kind === 'replace') return brought
    return edit?.kind === 'delete' ? '' : `line ${at}\n`
  })
  return result.join('')
}

/** What `git merge-file` makes of three texts. */
function gitMerges(): (base: string, ours: string, theirs: string) => MergedText {
  const directory = mkdtempSync(join(tmpdir(), 'coppice-merge-'))
  onTestFinished(() => rmSync(directory, { recursive: true, force: true }))
  return (base, ours, theirs) => {
    const files = Object.entries({ ours, base, theirs }).map(([name, text]) => {
      writeFileSync(join(directory, name), text)
      return name
    })
    const { status, stdout } = spawnSync('git', ['merge-file', '-p', ...files], {
      cwd: directory,
      encoding: 'utf8',
    })
    return { text: stdout, hasConflict: status !== 0 }
  }
}
