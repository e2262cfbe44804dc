import fc from 'fast-check'
import { describe, expect, it } from 'vitest'
import type { CachedOutput } from './index.ts'
import { formatStub } from './stub.ts'

const uri = 'vfs:///sys/tool_cache/alice/file_grep_0123456789abcdef'
const cached: CachedOutput = {
  uri,
  path: uri.slice('vfs://'.length),
  context: 'alice',
  id: 'file_grep_0123456789abcdef',
  tool: 'file_grep',
  bytes: 0,
  time: new Date(0),
}

/** Returns the beginning and the end that a stub shows. */
function previewIn(stub: string): string[] | undefined {
  const preview = /\n\nIt begins and ends:\n(?<preview>.*)$/s.exec(stub)?.groups?.['preview']
  return preview?.split(/\n?… \((?:[\d,]+ lines?, )?[\d,]+ characters? left out here\)(?:\n|$)/)
}

describe('a stub', () => {
  it('names the output, its size and how to read it, and shows how it begins and ends', () => {
    const output = `exit code 1\n${'a line of output\n'.repeat(300)}3 tests failed\n`
    expect(formatStub(cached, output, 80)).toBe(`The output of file_grep is long; it is stored as ${uri}
5,127 characters (about 1,282 tokens), 302 lines. Read it with:
  file_lines {"path":"${uri}","start":2,"end":51}
  file_tail {"path":"${uri}","lines":50}
  file_grep {"path":"${uri}","pattern":"error"}

It begins and ends:
exit code 1
… (298 lines, 5,066 characters left out here)
a line of output
a line of output
3 tests failed`)
  })

  it('counts a last line without its newline', () => {
    expect(formatStub(cached, 'a\nb', 0)).toContain('3 characters (about 1 token), 2 lines.')
    expect(formatStub(cached, 'a\nb\n', 0)).toContain('2 lines.')
  })

  it.each([
    ['whole lines', 'one\ntwo\nthree\nfour\nfive\n', 16, ['one', 'four\nfive']],
    ['lines that just fit', 'one\ntwo\nthree\nfour\nfifth', 16, ['one', 'four\nfifth']],
    ['line ends of Windows', 'one\r\ntwo\r\nthree\r\nsix\r\n', 20, ['one', 'three\r\nsix']],
    ['parts of lines that do not fit', 'a long first line, a long last line', 16, ['a lo', 'ng last line']],
    ['something, if the lines are blank', '\n\n\nlong first\nlong last\n\n\n\n', 8, ['\n', 'st\n\n\n']],
    ['no half of a character', '12😀 something 😀12345\n', 10, ['12', '12345']],
    ['all of it, if it fits', 'one\ntwo', 100, ['one\ntwo']],
  ])('shows %s', (_, output, previewChars, preview) => {
    expect(previewIn(formatStub(cached, output, previewChars))).toEqual(preview)
  })

  it('omits the preview if its limit is zero', () => {
    expect(previewIn(formatStub(cached, 'one\ntwo', 0))).toBeUndefined()
  })

  it('shows the beginning and the end of the output, within the limit, in whole characters', () => {
    const text = fc.string({ unit: 'binary', minLength: 1 }).filter((output) => !output.includes('…'))
    fc.assert(
      fc.property(text, fc.nat(40), (output, previewChars) => {
        const [head = '', tail = ''] = previewIn(formatStub(cached, output, previewChars)) ?? []
        expect(output.startsWith(head)).toBe(true)
        expect(output.replace(/\r?\n$/, '').endsWith(tail)).toBe(true)
        expect(head.length + tail.length).toBeLessThanOrEqual(previewChars)
        expect((head.isWellFormed() && tail.isWellFormed()) || !output.isWellFormed()).toBe(true)
      }),
    )
  })
})
