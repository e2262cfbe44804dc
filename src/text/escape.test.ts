import { expect, it } from 'vitest'
import { MemoryFs, tree } from '../vfs/index.ts'
import { escapeName, escapeText } from './index.ts'

it('a name with a newline forges no line of a tree', async () => {
  const fs = new MemoryFs({ '/a\n└── forged': 'x' })
  expect(await tree(fs, '/', { formatName: escapeName })).toBe('/\n└── "a\\n└── forged"')
})

it.each([...'\u061c\u200e\u200f\u202a\u202b\u202c\u202d\u202e\u2066\u2067\u2068\u2069'])(
  'what changes the direction of text is escaped in names and in content: %j',
  (mark) => {
    expect(escapeName(`a${mark}b`)).toMatch(/^"a(?:\\\d{3})+b"$/)
    expect(escapeText(`a${mark}b`)).toMatch(/^a(?:\\\d{3})+b$/)
  },
)

it.each(['\u200b', '\u2060', '\ufeff', '\u00ad', '\u{e0041}'])(
  'what nobody sees is escaped in names, and kept in content: %j',
  (hidden) => {
    expect(escapeName(`a${hidden}b`)).toMatch(/^"a(?:\\\d{3})+b"$/)
    expect(escapeText(`a${hidden}b`)).toBe(`a${hidden}b`)
  },
)
