import fc from 'fast-check'
import { describe, expect, it } from 'vitest'
import { type Home, openHome, type Vault } from '../../backends/vault/index.ts'
import { grep, type Match, MemoryFs } from '../../vfs/index.ts'
import { compileLinePattern } from './line-pattern.ts'

/** Pieces of patterns, including syntax that only this engine has. */
const piece = fc.constantFrom(
  ...[
    'foo',
    'bar',
    'k',
    's',
    'é',
    '.',
    '^',
    '$',
    '\\b',
    '\\d',
    '\\w+',
    'o+',
    'o*',
    'a?',
    'r{2}',
    'a{,2}',
    '-',
  ],
  ...['[ab]', '[^x]', '[]a]', '[^]a]', '[[:alpha:]]', '[[:^digit:]x]', '(foo)', '(foo|bar)', '(?:ba)r'],
  ...[
    '(?P<n>foo)',
    '(?<m>bar)',
    '(?i)FOO',
    '(?i:BAR)',
    '(?s).',
    '\\Qfo.o\\E',
    '\\x41',
    '\\x{66}oo',
    '\\pL',
    '|',
  ],
)
const source = fc.array(piece, { minLength: 1, maxLength: 4 }).map((pieces) => pieces.join(''))
const line = fc
  .array(
    fc.constantFrom(
      'foo',
      'bar',
      'FOO',
      'Bar',
      'fo.o',
      'a{,2}',
      ']',
      'K',
      'k',
      's',
      '\u212a',
      'ſ',
      'é',
      '1',
      ' ',
      'Afoo',
    ),
    { maxLength: 4 },
  )
  .map((words) => words.join(''))

function compiled(text: string): ReturnType<typeof compileLinePattern> | undefined {
  try {
    return compileLinePattern(text)
  } catch {
    // Some pieces are invalid together; a refused pattern matches nothing.
    return undefined
  }
}

/** More files than a search reads without building an index. */
const INDEXED_FILES = 700

/** Creates the same files in an indexed vault and in memory. */
async function indexedFiles(
  home: Home,
): Promise<{ vault: Vault; memory: MemoryFs; lines: Map<string, string> }> {
  const vault = await home.createVault('indexed')
  const sampled = fc.sample(line, { numRuns: INDEXED_FILES, seed: 4 })
  const lines = new Map(sampled.map((text, index) => [`/${String(index).padStart(4, '0')}`, text]))
  const memory = new MemoryFs()
  for (const [path, text] of lines) {
    await vault.write(path, `${text}\n`)
    await memory.write(path, `${text}\n`)
  }
  // The first search reads all files and builds the index.
  await Array.fromAsync(vault.search('/', { pattern: 'foo' }))
  return { vault, memory, lines }
}

describe('a pattern of a model', () => {
  it('finds the same with an index as without', async () => {
    const home = await openHome()
    const { vault, memory, lines } = await indexedFiles(home)
    const paths = (matches: readonly Match[]) => matches.map(({ path }) => path)
    await fc.assert(
      fc.asyncProperty(source, async (text) => {
        const pattern = compiled(text)
        fc.pre(pattern !== undefined)
        if (pattern === undefined) return
        const isMatch = (some: string) =>
          typeof pattern === 'string' ? some.includes(pattern) : pattern.test(some)
        const expected = [...lines].filter(([, some]) => isMatch(some)).map(([path]) => path)
        expect(paths(await Array.fromAsync(grep(memory, '/', { pattern })))).toEqual(expected)
        expect(paths(await Array.fromAsync(vault.search('/', { pattern })))).toEqual(expected)
      }),
      { numRuns: 300 },
    )
    await home.close()
  })

  it('ignores case with the flag in front', () => {
    const pattern = compileLinePattern('(?i)foo.')
    expect(pattern).toMatchObject({ source: 'foo.', flags: 'iu' })
    expect(typeof pattern !== 'string' && pattern.test('a FOOd')).toBe(true)
  })

  it('without special characters is a plain text', () => {
    expect(compileLinePattern('plain text')).toBe('plain text')
  })

  it.each(['(a+)+$', '(a|a)*b', '(.*)*x', '(a?){100}a{100}', '([a-z]+)*!$'])(
    'takes time linear in the line: %s',
    (evil) => {
      const pattern = compileLinePattern(evil)
      expect(typeof pattern !== 'string' && pattern.test(`${'a'.repeat(100_000)}?`)).toBeTypeOf('boolean')
    },
  )
})
