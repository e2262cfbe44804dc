import fc from 'fast-check'
import { describe, expect, it } from 'vitest'
import { MemoryFs, readFile } from '../../vfs/index.ts'
import { createToolRegistry } from '../tool-registry.ts'

/** A text file as an array of lines, all with the same end. */
interface Model {
  readonly lines: readonly string[]
  readonly end: '\n' | '\r\n'
  readonly hasFinalEnd: boolean
}

type Operation = 'replace_lines' | 'insert_before' | 'insert_after' | 'delete_lines'

const line = fc.string({ unit: fc.constantFrom('a', 'b', ' ', '$&', 'é', '😀', '\r\t'), maxLength: 4 })
const endings = fc.constantFrom<'\n' | '\r\n'>('\n', '\r\n')
const model: fc.Arbitrary<Model> = fc
  .record({ lines: fc.array(line, { minLength: 1, maxLength: 8 }), end: endings, hasFinalEnd: fc.boolean() })
  // Without a final newline, an empty last line does not exist.
  .filter(({ lines, hasFinalEnd }) => hasFinalEnd || lines.at(-1) !== '')
const operation = fc.constantFrom<Operation>('replace_lines', 'insert_before', 'insert_after', 'delete_lines')
const encoding = fc.constantFrom<Encoding>('utf-8', 'utf-8 with mark', 'utf-16le', 'utf-16be')

type Encoding = 'utf-8' | 'utf-8 with mark' | 'utf-16le' | 'utf-16be'

function textOf({ lines, end, hasFinalEnd }: Model): string {
  return lines.length === 0 ? '' : lines.join(end) + (hasFinalEnd ? end : '')
}

function stored(text: string, as: Encoding): Buffer {
  if (as === 'utf-8') return Buffer.from(text)
  if (as === 'utf-8 with mark') return Buffer.from(`\ufeff${text}`)
  const little = Buffer.from(`\ufeff${text}`, 'utf16le')
  return as === 'utf-16le' ? little : little.swap16()
}

async function edit(content: Buffer, args: object): Promise<Buffer | string> {
  const fs = new MemoryFs({ '/f': content })
  const result = await createToolRegistry({ fs }).call('file_edit', { path: 'vfs:///f', ...args })
  const after = Buffer.from(await readFile(fs, '/f'))
  if (!result.isError) return after
  // After a refusal nothing is written.
  expect(after).toEqual(content)
  return result.text
}

describe('file_edit', () => {
  it('equals splicing an array of lines, in any encoding and with any line ends', async () => {
    const added = fc.record({ lines: fc.array(line, { minLength: 1, maxLength: 3 }), end: endings })
    const range = fc.tuple(fc.integer({ min: 1, max: 10 }), fc.nat(3))
    await fc.assert(
      fc.asyncProperty(
        model,
        operation,
        range,
        added,
        encoding,
        async (before, op, [start, more], content, as) => {
          const end = start + more
          const isRange = op === 'replace_lines' || op === 'delete_lines'
          const args = {
            operation: op,
            start,
            ...(isRange && { end }),
            ...(op !== 'delete_lines' && { content: content.lines.join(content.end) + content.end }),
          }
          const result = await edit(stored(textOf(before), as), args)
          if ((isRange ? end : start) > before.lines.length) {
            expect(result).toContain('there is no line')
            return
          }
          const at = op === 'insert_after' ? start : start - 1
          const lines = before.lines.toSpliced(
            at,
            isRange ? more + 1 : 0,
            ...(op === 'delete_lines' ? [] : content.lines),
          )
          // A single line without an end does not determine the line end.
          const isUntold = before.lines.length === 1 && !before.hasFinalEnd
          const after = { ...before, lines, end: isUntold ? ('\n' as const) : before.end }
          expect(result).toEqual(stored(textOf(after), as))
        },
      ),
      { numRuns: 500 },
    )
  })

  it('keeps every line it does not edit, including line ends', async () => {
    const mixed = fc.array(fc.tuple(line, endings), { minLength: 1, maxLength: 8 })
    await fc.assert(
      fc.asyncProperty(mixed, operation, fc.nat(7), async (lines, op, at) => {
        const start = (at % lines.length) + 1
        const before = lines.map((parts) => parts.join(''))
        const content = op === 'delete_lines' ? {} : { content: 'new' }
        const result = await edit(Buffer.from(before.join('')), { operation: op, start, ...content })
        const end = lines[start - 1]?.[1] ?? ''
        const index = op === 'insert_after' ? start : start - 1
        const removed = op.startsWith('insert') ? 0 : 1
        const after = before.toSpliced(index, removed, ...(op === 'delete_lines' ? [] : [`new${end}`]))
        expect(String(result)).toBe(after.join(''))
      }),
      { numRuns: 300 },
    )
  })

  it('equals splitting and joining a string, and requires a single match', async () => {
    const text = fc.string({ unit: fc.constantFrom('a', 'b', '\n', '$'), maxLength: 12 })
    const needle = fc.string({ unit: fc.constantFrom('a', 'b', '\n'), minLength: 1, maxLength: 2 })
    await fc.assert(
      fc.asyncProperty(text, needle, text, endings, fc.boolean(), async (plain, find, replace, end, all) => {
        const inFile = (some: string) => some.replaceAll('\n', end)
        const args = { operation: 'replace_string', find, replace, all }
        const result = await edit(Buffer.from(inFile(plain)), args)
        const places = [...plain].filter((_, index) => plain.startsWith(find, index)).length
        if (places === 0) expect(result).toContain('does not occur')
        else if (places > 1 && !all) expect(result).toContain(`occurs ${places} times`)
        else {
          const expected = plain.split(find).join(replace)
          // In a file without line ends, a new one is the default.
          expect(String(result)).toBe(plain.includes('\n') ? inFile(expected) : expected)
        }
      }),
      { numRuns: 500 },
    )
  })
})
