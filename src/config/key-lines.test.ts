import fc from 'fast-check'
import { parse, stringify } from 'smol-toml'
import { describe, expect, it } from 'vitest'
import { scanKeyLines } from './key-lines.ts'

describe('keyLines', () => {
  it.each<[string, (string | number)[], number]>([
    ['a = 1\nb = 2', ['b'], 2],
    ['# a = 1\n\n  a\t= 2', ['a'], 3],
    ['[a]\nb = 1\n[c]\nb = 2', ['c', 'b'], 4],
    ['[a.b]\n[ a . "c d" ]\ne = 1', ['a', 'c d'], 2],
    ['[mounts."/docs"]\naccess = "read"', ['mounts', '/docs', 'access'], 2],
    ["'x y'.z = 1", ['x y', 'z'], 1],
    ['a = { b = 1, c.d = [1, { e = 2 }] }\nf = 1', ['a', 'c', 'd', '1', 'e'], 1],
    ['a = [\n  "x", # b = 1\n  "y",\n]\nb = 1', ['a', 1], 3],
    ['a = [\n  "x", # b = 1\n  "y",\n]\nb = 1', ['b'], 5],
    ['a = """\nb = 1\n\\""" """\nb = 2', ['b'], 4],
    ["a = '''\nb = 1\n'''\nb = 2", ['b'], 4],
    ['a = "[b]"\r\nb = 2', ['b'], 2],
    ['a = "x \\" # y"\nb = 1', ['b'], 2],
    ['a = "" # ""\nb = 1', ['b'], 2],
    ['"\\u00e9\\t\\U0001F331" = 1', ['é\t🌱'], 1],
    ['[[a]]\nb = 1\n[[a]]\nc = 2', ['a', 'c'], 4],
    ['x = 1\na = 1979-05-27T07:32:00Z # b\nb = 2', ['b'], 3],
  ])('finds in %j the key %j on line %i', (text, keys, line) => {
    expect(() => parse(text)).not.toThrow()
    expect(scanKeyLines(text).getLine(keys)).toBe(line)
  })

  it('returns the line of the nearest parent of a missing key', () => {
    expect(scanKeyLines('a = 1\n[b]\nc = 1').getLine(['b', 'missing', 'x'])).toBe(2)
    expect(scanKeyLines('a = 1').getLine(['missing'])).toBe(1)
  })

  it('terminates on any text', () => {
    const text = fc.string({ unit: fc.constantFrom(...'[]{}=.,"\'#\\\n \ta1') })
    fc.assert(
      fc.property(text, (any) => {
        expect(scanKeyLines(any).getLine(['a'])).toBeGreaterThan(0)
      }),
    )
  })

  it('finds every key of a document of any shape', () => {
    const key = fc.oneof(fc.constantFrom('a', 'b.c', '', '[x]', '# y', '"q"', 'é\n'), fc.string())
    const leaf = fc.oneof(fc.string(), fc.integer(), fc.constantFrom('"""', "'''", 'a = 1', '\n[t]\n', true))
    const { tree } = fc.letrec<{ tree: Record<string, unknown> }>((tie) => ({
      tree: fc.dictionary(key, fc.oneof({ maxDepth: 3 }, leaf, fc.array(leaf), tie('tree')), { maxKeys: 4 }),
    }))
    fc.assert(
      fc.property(tree, (values) => {
        const text = stringify(values)
        const lines = text.split('\n')
        for (const keys of keysOf(values)) {
          const line = lines[scanKeyLines(text).getLine(keys) - 1] ?? ''
          expect([JSON.stringify(keys.at(-1)), keys.at(-1)].some((name) => line.includes(name ?? ''))).toBe(
            true,
          )
        }
      }),
      { numRuns: 500 },
    )
  })
})

/** Lists the path of every key that holds a value. */
function keysOf(values: object, above: readonly string[] = []): string[][] {
  return Object.entries(values).flatMap(([key, value]) =>
    typeof value === 'object' && value !== null && !Array.isArray(value)
      ? keysOf(value, [...above, key])
      : [[...above, key]],
  )
}
