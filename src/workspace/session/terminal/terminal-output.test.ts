import fc from 'fast-check'
import { describe, expect, it } from 'vitest'
import { TerminalOutput } from './terminal-output.ts'

/** Filters a text that arrives in chunks of a size. */
function filter(text: string, size = text.length): { shown: string; output: TerminalOutput } {
  const output = new TerminalOutput()
  const bytes = Buffer.from(text)
  const parts: Uint8Array[] = []
  for (let at = 0; at < bytes.length; at += Math.max(1, size))
    parts.push(output.filter(bytes.subarray(at, at + Math.max(1, size))))
  return { shown: Buffer.concat(parts).toString(), output }
}

describe('output on its way to a terminal', () => {
  it.each([
    ['a title', 'before\x1b]0;a title\x07after'],
    ['colours and cursor moves', '\x1b[1;31mred\x1b[0m\x1b[2J\x1b[10;20H'],
    ['letters of any language', 'grüße 世界 ✓'],
    ['a clipboard that is set', '\x1b]52;c;aGVsbG8=\x07'],
    ['questions about the terminal', '\x1b[c\x1b[6n\x1b]11;?\x1b\\'],
  ])('shows %s unchanged, in chunks of any size', (_what, text) => {
    for (const size of [1, 2, 3, 7, text.length]) expect(filter(text, size).shown).toBe(text)
  })

  it.each([
    ['the title', '\x1b[21t'],
    ['the title of the icon', '\x1b[20t'],
    ['the clipboard', '\x1b]52;c;?\x07'],
    ['the clipboard, ended by a string terminator', '\x1b]52;p;?\x1b\\'],
    ['the title, in one character of the second set', '\u009b21t'],
    ['the clipboard of a selection without end', `\x1b]52;${'c'.repeat(5000)};?\x07`],
  ])('leaves out a request for %s, in chunks of any size', (_what, request) => {
    for (const size of [1, 2, 3, 7, request.length]) {
      const { shown } = filter(`a${request}b`, size)
      expect(shown).not.toContain(request)
      expect(shown).toMatch(/^a/)
      expect(shown).toMatch(/b$/)
    }
  })

  it('resets the modes that a command has left set, and no others', () => {
    const { output } = filter('\x1b[?1000h\x1b[?25l\x1b[?2004h\x1b[?2004l\x1b[?1049h\x1b[>1u')
    const reset = output.reset()
    for (const sequence of ['\x1b[?1000l', '\x1b[?25h', '\x1b[?1049l', '\x1b[<u'])
      expect(reset).toContain(sequence)
    expect(reset).not.toContain('2004')
    expect(output.reset()).toBe('')
  })

  it('knows whether the terminal may still answer', () => {
    expect(filter('\x1b[1mplain\x1b[0m').output.hasRequests).toBe(false)
    for (const request of ['\x1b[c', '\x1b[6n', '\x05', '\x1b]10;?\x07', '\x1bP$qm\x1b\\'])
      expect(filter(request).output.hasRequests).toBe(true)
  })

  it('shows every text the same, however it is cut', () => {
    const piece = fc.constantFrom(
      '\x1b',
      '[',
      ']',
      '52;c;',
      '?',
      '21t',
      '\x07',
      'x',
      '\u009b',
      '1049h',
      '\x1b\\',
      'ü',
    )
    fc.assert(
      fc.property(fc.array(piece, { maxLength: 30 }), fc.integer({ min: 1, max: 9 }), (pieces, size) => {
        // A last sequence without its end would wait for more.
        const text = `${pieces.join('')}\x18\x18end`
        expect(filter(text, size).shown).toBe(filter(text).shown)
      }),
    )
  })
})
