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

function previewIn(stub: string): string | undefined {
  return /\n\nIt begins \([\d,]+ characters?\):\n(?<preview>.*)$/s.exec(stub)?.groups?.['preview']
}

describe('a stub', () => {
  it('names the output, its size and how to read it', () => {
    const stub = formatStub(cached, 'a line of output\n'.repeat(300), 40)
    expect(stub).toBe(`The output of file_grep is long; it is stored as ${uri}
5,100 characters (about 1,275 tokens), 300 lines. Read it with:
  file_head {"path":"${uri}","lines":50}
  file_tail {"path":"${uri}","lines":50}
  file_lines {"path":"${uri}","start":150,"end":199}
  file_grep {"path":"${uri}","pattern":"error"}

It begins (33 characters):
a line of output
a line of output`)
  })

  it('counts a last line without its newline', () => {
    expect(formatStub(cached, 'a\nb', 0)).toContain('3 characters (about 1 token), 2 lines.')
    expect(formatStub(cached, 'a\nb\n', 0)).toContain('2 lines.')
  })

  it.each([
    ['whole lines', 'one\ntwo\nthree', 8, 'one\ntwo'],
    ['a line that just fits', 'one\ntwo\nthree', 7, 'one\ntwo'],
    ['no line end of Windows left over', 'one\r\ntwo\r\nthree', 10, 'one\r\ntwo'],
    ['part of a first line that does not fit', 'a long first line\nx', 6, 'a long'],
    ['something, if the first lines are blank', '\n\n\nlong enough', 8, '\n\n\nlong '],
    ['no half of a character', '12345😀\n', 6, '12345'],
    ['all of it, if it fits', 'one\ntwo', 100, 'one\ntwo'],
  ])('shows %s', (_, output, previewChars, preview) => {
    expect(previewIn(formatStub(cached, output, previewChars))).toBe(preview)
  })

  it('omits the preview if its limit is zero', () => {
    expect(previewIn(formatStub(cached, 'one\ntwo', 0))).toBeUndefined()
  })

  it('shows the beginning of the output, within the limit, in whole characters', () => {
    fc.assert(
      fc.property(fc.string({ unit: 'binary', minLength: 1 }), fc.nat(40), (output, previewChars) => {
        const preview = previewIn(formatStub(cached, output, previewChars)) ?? ''
        expect(output.startsWith(preview)).toBe(true)
        expect(preview.length).toBeLessThanOrEqual(previewChars)
        expect(preview.isWellFormed() || !output.isWellFormed()).toBe(true)
      }),
    )
  })
})
