import fc from 'fast-check'
import { describe, expect, it } from 'vitest'
import { type Home, openHome, type Vault } from '../../backends/vault/index.ts'
import { grep, type Match, MemoryFs } from '../../vfs/index.ts'
import { compileLinePattern } from './line-pattern.ts'

/** Pieces of patterns, with what only this engine's notation has among them. */
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
    // Some pieces do not go together; what is refused finds nothing anywhere.
    return undefined
  }
}

/** More files than a search reads without making an index of them. */
const INDEXED_FILES = 700

/** The same files in a vault that has its index, and in memory. */
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
  // The first search reads everything, and leaves the index behind.
  await Array.fromAsync(vault.search('/', { pattern: 'foo' }))
  return { vault, memory, lines }
}

describe('a pattern of a model', () => {
  it('finds with an index exactly what reading every line finds', async () => {
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

  it('ignores case where it says so in front', () => {
    const pattern = compileLinePattern('(?i)foo.')
    expect(pattern).toMatchObject({ source: 'foo.', flags: 'iu' })
    expect(typeof pattern !== 'string' && pattern.test('a FOOd')).toBe(true)
  })

  it('without anything special is a plain text', () => {
    expect(compileLinePattern('plain text')).toBe('plain text')
  })

  it.each(['(a+)+$', '(a|a)*b', '(.*)*x', '(a?){100}a{100}', '([a-z]+)*!$'])(
    'takes time in proportion to the line: %s',
    (evil) => {
      const pattern = compileLinePattern(evil)
      expect(typeof pattern !== 'string' && pattern.test(`${'a'.repeat(100_000)}?`)).toBeTypeOf('boolean')
    },
  )
})
