import { expect, it } from 'vitest'
import { MemoryFs, tree } from '../vfs/index.ts'
import { escapeName, escapeText } from './index.ts'

it('a name with a newline forges no line of a tree', async () => {
  const fs = new MemoryFs({ '/a\n└── forged': 'x' })
  expect(await tree(fs, '/', { formatName: escapeName })).toBe('/\n└── "a\\n└── forged"')
})

it.each(['\u200b', '\u2060', '\ufeff', '\u202e', '\u00ad', '\u{e0041}'])(
  'what nobody sees is escaped in names, and kept in content: %j',
  (hidden) => {
    expect(escapeName(`a${hidden}b`)).toMatch(/^"a(?:\\\d{3})+b"$/)
    if (hidden !== '\u202e') expect(escapeText(`a${hidden}b`)).toBe(`a${hidden}b`)
  },
)
