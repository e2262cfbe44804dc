import fc from 'fast-check'
import { describe, expect, it } from 'vitest'
import { MemoryFs } from '../../vfs/index.ts'
import { createToolRegistry } from '../tool-registry.ts'

const MAX_LINES = 2000
const MAX_CHARACTERS = 100_000
const path = 'vfs:///file'

function callOn(content: string | Uint8Array) {
  const tools = createToolRegistry(new MemoryFs({ '/file': content }))
  return async (name: string, args: object) => (await tools.call(name, { path, ...args })).text
}

function linesTo(count: number, content = (line: number) => `line ${line}`): string {
  return Array.from({ length: count }, (_, index) => `${content(index + 1)}\n`).join('')
}

describe('a tool that reads a file', () => {
  const text = linesTo(1500)

  it.each<[string, object, string]>([
    ['file_read', { numbered: false }, text],
    ['file_read', { offset: 1, limit: 1500, numbered: false }, text],
    ['file_lines', { start: 1, end: 1500 }, text.trimEnd()],
    ['file_head', { lines: 1500 }, text.trimEnd()],
    ['file_tail', { lines: 1500 }, text.trimEnd()],
  ])('returns the file, never a stub: %s %j', async (name, args, whole) => {
    const tools = createToolRegistry(new MemoryFs({ '/file': text }))
    expect(await tools.call(name, { path, ...args })).toEqual({ text: whole, isError: false })
  })

  it.each(['file_read', 'file_grep'])(
    'returns what the file has now, and knows its version: %s',
    async (name) => {
      const fs = new MemoryFs({ '/file': 'one\ntwo\n' })
      const tools = createToolRegistry(fs)
      const read = async () =>
        (await tools.call(name, { path, ...(name === 'file_grep' && { pattern: '.' }) })).text
      const edit = (oldText: string) =>
        tools.call('file_edit', { path, operation: 'replace_string', find: oldText, replace: `${oldText}!` })
      expect(await read()).toContain('one')
      expect(await read()).toContain('one')
      await fs.write('/file', 'ten\ntwo\n')
      expect((await edit('two')).error?.code).toBe('ECONFLICT')
      expect(await read()).toContain('ten')
      expect((await edit('two')).error).toBeUndefined()
      expect(await read()).toContain('two!')
    },
  )

  it('returns what the file has now if its file system uses a buffer again', async () => {
    const buffer = new TextEncoder().encode('one')
    class ReusingFs extends MemoryFs {
      override async *read(): AsyncGenerator<Uint8Array> {
        yield buffer
      }
    }
    const tools = createToolRegistry(new ReusingFs({ '/file': 'one' }))
    expect((await tools.call('file_read', { path, numbered: false })).text).toBe('one')
    buffer.set(new TextEncoder().encode('two'))
    expect((await tools.call('file_read', { path, numbered: false })).text).toBe('two')
  })

  it('returns at most 2,000 lines, and says where to continue', async () => {
    const call = callOn(linesTo(5000))
    for (const [name, args, note] of [
      ['file_read', { numbered: false }, '… (more follows: continue with offset 2001)'],
      ['file_read', { limit: 4000, numbered: false }, '… (more follows: continue with offset 2001)'],
      ['file_lines', { start: 1, end: 3000 }, '… (more follows: continue with file_read, offset 2001)'],
      ['file_head', { lines: 2001 }, '… (more follows: continue with file_read, offset 2001)'],
    ] as const) {
      expect(await call(name, args)).toBe(`${linesTo(MAX_LINES)}${note}`)
    }
  })

  it('returns the last 2,000 lines, and says how to read earlier ones', async () => {
    const call = callOn(linesTo(5000))
    const [first, ...rest] = (await call('file_tail', { lines: 4000 })).split('\n')
    expect(first).toBe('line 3001')
    expect(rest.at(-1)).toBe('… (lines 3001 to 5000: read those before with file_read, offset 1001)')
    expect(rest).toHaveLength(MAX_LINES)
    expect((await call('file_tail', { lines: MAX_LINES })).split('\n')).toHaveLength(MAX_LINES)
  })

  it('returns at most 100,000 characters, in whole lines', async () => {
    const content = linesTo(300, (line) => `${line} `.padEnd(999, 'x'))
    const call = callOn(content)
    const head = await call('file_head', { lines: 200 })
    expect(head).toBe(
      `${content.slice(0, MAX_CHARACTERS)}… (more follows: continue with file_read, offset 101)`,
    )
    const tail = await call('file_tail', { lines: 200 })
    expect(tail).toBe(
      `${content.slice(-MAX_CHARACTERS)}… (lines 201 to 300: read those before with file_read, offset 1)`,
    )
  })

  it('continues inside a line that is longer than a page', async () => {
    const line = 'x'.repeat(3 * 1024 * 1024)
    const call = callOn(`short\n${line}\nlast`)
    expect(await call('file_read', {})).toBe('     1\tshort\n… (more follows: continue with offset 2)')
    const part = await call('file_lines', { start: 2, end: 2 })
    expect(part).toBe(
      `${'x'.repeat(MAX_CHARACTERS)}\n… (more follows: continue with file_read, offset 2 and column 100001)`,
    )
    const end = await call('file_read', { offset: 2, column: line.length, numbered: false })
    expect(end).toBe('x\nlast')
    const beyond = await call('file_read', { offset: 2, column: line.length + 1 })
    expect(beyond).toContain(`EINVAL: line 2 has no character ${line.length + 1}: it has ${line.length}`)
    const tail = await callOn(line)('file_tail', {})
    expect(tail).toMatch(/^x{100000}\n… \(the end of line 1: read it .* with file_read, offset 1\)$/)
  })

  it('notes that a character may replace invalid bytes', async () => {
    const call = callOn(Uint8Array.of(0x61, 0xe9, 0x62, 0x0a))
    expect(await call('file_read', {})).toBe(
      '     1\ta\ufffdb\n… (\ufffd may stand for bytes that are not valid text)',
    )
  })

  it('distinguishes a blank line from an empty file', async () => {
    expect(await callOn('\n')('file_head', {})).toBe('')
    expect(await callOn('\n')('file_read', { numbered: false })).toBe('\n')
    expect(await callOn('')('file_read', { numbered: false })).toBe('(the file is empty)')
  })
})

describe('file_read', () => {
  /** Generates short lines, lines that fill a page together, and lines longer than a page. */
  const line = fc.oneof(
    fc.string({ unit: fc.constantFrom('a', 'é', '😀', ' ', '\r', '…'), maxLength: 6 }),
    fc
      .tuple(
        fc.constantFrom('x', '😀', 'é'),
        fc.constantFrom(20_000, 49_999, 50_000, 99_993, 100_001, 170_000),
      )
      .map(([unit, length]) => unit.repeat(length)),
  )
  const file = fc.tuple(
    fc.array(fc.tuple(line, fc.constantFrom('\n', '\r\n')), { minLength: 1, maxLength: 12 }),
    fc.boolean(),
  )

  it('returns the exact file when continued at each stated position', async () => {
    await fc.assert(
      fc.asyncProperty(file, fc.integer({ min: 1, max: 5000 }), async ([lines, endsOpen], limit) => {
        const text = lines.map(([body, end]) => body + end).join('') + (endsOpen ? 'end' : '')
        const call = callOn(text)
        expect(await pagesOf(call, { limit, numbered: false })).toBe(text)
        expect(await numberedLinesOf(call, limit)).toEqual(linesOf(text))
      }),
      { numRuns: 40 },
    )
  })
})

type Call = (name: string, args: object) => Promise<string>

const NOTE = /\n?… \(more follows: continue with offset (?<offset>\d+)(?: and column (?<column>\d+))?\)$/

/** Reads all pages by following the stated positions. */
async function* pages(call: Call, args: object): AsyncGenerator<{ text: string; isCut: boolean }> {
  for (let at: object = {}; ; ) {
    const text = await call('file_read', { ...args, ...at })
    const note = NOTE.exec(text)
    if (note === null) return yield { text, isCut: false }
    const { offset, column } = note.groups ?? {}
    const isCut = column !== undefined
    const page = text.slice(0, note.index)
    expect(page.length).toBeLessThanOrEqual(MAX_CHARACTERS + 1)
    yield { text: isCut ? page : `${page}\n`, isCut }
    at = { offset: Number(offset), ...(isCut && { column: Number(column) }) }
  }
}

async function pagesOf(call: Call, args: object): Promise<string> {
  return (await Array.fromAsync(pages(call, args), ({ text }) => text)).join('')
}

/** Returns the lines of numbered pages without their numbers. */
async function numberedLinesOf(call: Call, limit: number): Promise<string[]> {
  const lines: string[] = []
  let isInLine = false
  for await (const { text, isCut } of pages(call, { limit })) {
    for (const numbered of text.replace(/\n$/, '').split('\n')) {
      const [, number, body = ''] = /^ *(\d+)\t(.*)$/s.exec(numbered) ?? []
      if (isInLine) lines[lines.length - 1] += body
      else lines.push(body)
      expect(Number(number)).toBe(lines.length)
      isInLine = false
    }
    isInLine = isCut
  }
  return lines
}

function linesOf(text: string): string[] {
  return text
    .replace(/\n$/, '')
    .split('\n')
    .map((line) => line.replace(/\r$/, ''))
}
