import { describe, expect, it } from 'vitest'
import { splitInvisible, toVisible } from './visible-text.tsx'

describe('a text that others wrote', () => {
  it.each([
    ['gnp\u202eexe', 'gnp<U+202E>exe'],
    ['a\u0000b', 'a<U+0000>b'],
    ['\u001b[31mred', '<U+001B>[31mred'],
    ['zero\u200bwidth\u2060', 'zero<U+200B>width<U+2060>'],
    ['\ufeffstart', '<U+FEFF>start'],
    ['\u2066isolated\u2069', '<U+2066>isolated<U+2069>'],
    ['tag\u{e0041}', 'tag<U+E0041>'],
  ])('shows what nobody would see in %j', (text, shown) => expect(toVisible(text)).toBe(shown))

  it('stays as it is where everything is visible, tabs and line ends included', () => {
    const text = 'größe\t日本語 ❤️\n<b>not bold</b>'
    expect(splitInvisible(text)).toEqual([text])
  })
})
