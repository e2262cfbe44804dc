import fc from 'fast-check'
import { describe, expect, it } from 'vitest'
import { splitLines } from '../../vfs/index.ts'
import { buildPatternQuery } from './pattern-query.ts'
import type { TrigramQuery } from './trigram-query.ts'
import { extractTrigrams } from './trigrams.ts'

function isMet(need: TrigramQuery, trigrams: ReadonlySet<number>): boolean {
  if (need === 'anything') return true
  if ('trigrams' in need) return need.trigrams.every((trigram) => trigrams.has(trigram))
  return 'all' in need
    ? need.all.every((one) => isMet(one, trigrams))
    : need.any.some((one) => isMet(one, trigrams))
}

/** Formats the trigrams of a query as text. */
function formatQuery(need: TrigramQuery): unknown {
  if (need === 'anything') return need
  if ('all' in need) return { all: need.all.map(formatQuery) }
  if ('any' in need) return { any: need.any.map(formatQuery) }
  return need.trigrams.map((trigram) =>
    String.fromCharCode(trigram >> 16, (trigram >> 8) & 0xff, trigram & 0xff),
  )
}

const unit = fc.constantFrom(...'abkAKs', 'ſ', '\u212a', 'é', '😀', '\ud83d', '\ude00', '\ufffd', '-', '\r')

const LONGEST_SAMPLE = 9

/** A piece of a pattern, with a text it may match. */
interface Piece {
  readonly source: string
  readonly sample: string
}

/** Other letters that some flags take for the same. */
const TWINS: Readonly<Record<string, string>> = {
  é: 'É',
  k: '\u212a',
  K: '\u212a',
  s: 'ſ',
  a: 'A',
  A: 'a',
  b: 'B',
}

const plain: fc.Arbitrary<Piece> = fc
  .tuple(fc.string({ unit, minLength: 1, maxLength: 5 }), fc.boolean())
  .map(([source, isTwisted]) => ({
    source,
    sample: isTwisted ? Array.from(source, (one) => TWINS[one] ?? one).join('') : source,
  }))

const special: fc.Arbitrary<Piece> = fc
  .constantFrom<[source: string, ...samples: string[]]>(
    ['.', 'x', 'é'],
    ['[ab]', 'a', 'b'],
    ['[^\\]a]', 'q'],
    ['[[a]', '['],
    ['\\d', '1'],
    ['\\w', 'a'],
    ['\\b', ''],
    ['^', ''],
    ['$', ''],
    ['\\x61', 'a'],
    ['\\u0062', 'b'],
    ['\\u{61}', 'a', 'u'.repeat(61)],
    ['\\-', '-'],
    ['\\/', '/'],
    ['\\t', '\t'],
    ['\\cA', '\x01'],
    ['\\07', '\x07'],
    ['\\p{L}', 'é', 'p{L}'],
    ['\\a', 'a'],
    ['(?=a)', ''],
    ['(?!q)', ''],
    ['(?<!q)', ''],
    ['(?<n>ab)', 'ab'],
    ['(?i:abc)', 'ABC', 'abc'],
    ['{', '{'],
    [']', ']'],
    ['a{,2}', 'a{,2}'],
    ['\\ud83d\\ude00', '😀'],
    ['[\\q{abc|k}]', 'abc', 'q'],
    ['[[a-z]--[b]]', 'a'],
  )
  .chain(([source, ...samples]) => fc.constantFrom(...samples).map((sample) => ({ source, sample })))

const repeated = fc.constantFrom<[string, number]>(
  ['', 1],
  ['', 1],
  ['', 1],
  ['*', 0],
  ['*', 2],
  ['+', 1],
  ['+', 3],
  ['?', 0],
  ['?', 1],
  ['{2}', 2],
  ['{0}', 0],
  ['{1,}', 2],
  ['+?', 1],
)

const { piece } = fc.letrec<{ piece: Piece; group: Piece }>((tie) => ({
  piece: fc
    .array(
      fc
        .tuple(fc.oneof({ depthSize: 'small' }, plain, special, tie('group')), repeated)
        .map(([{ source, sample }, [sign, count]]) => ({
          source: source + sign,
          // A sign belongs to the last character of plain text only.
          sample:
            source.length > 1 && !/[\\([]/.test(source) && sign !== ''
              ? source.slice(0, -1) + source.slice(-1).repeat(count)
              : sample.repeat(count),
        })),
      { maxLength: 4 },
    )
    .map((pieces) => ({
      source: pieces.map(({ source }) => source).join(''),
      sample: pieces.map(({ sample }) => sample).join(''),
    })),
  group: fc
    .tuple(fc.array(tie('piece'), { minLength: 1, maxLength: 3 }), fc.nat(), fc.constantFrom('(', '(?:'))
    .map(([pieces, which, open]) => ({
      source: `${open}${pieces.map(({ source }) => source).join('|')})`,
      sample: pieces[which % pieces.length]?.sample ?? '',
    })),
}))

describe('what a pattern needs', () => {
  it('is in every file that has a matching line', () => {
    let matched = 0
    const around = fc.string({ unit, maxLength: 2 })
    const flags = fc.constantFrom('', 'i', 'u', 'iu', 'v', 'iv')
    fc.assert(
      fc.property(piece, flags, around, around, ({ source, sample }, some, before, after) => {
        // Nested repetitions take their time on long lines, and a long line tells no more than a short one.
        fc.pre(sample.length <= LONGEST_SAMPLE)
        const pattern = regexpOf(source, some)
        const bytes = Buffer.from(before + sample + after)
        if (pattern === null || !splitLines(bytes).some((line) => pattern.test(line))) return
        const need = buildPatternQuery(pattern)
        if (need !== 'anything') matched++
        expect(isMet(need, new Set(extractTrigrams(bytes)))).toBe(true)
      }),
      { numRuns: 5000 },
    )
    expect(matched).toBeGreaterThan(100)
  })

  it('is in every file that contains a literal', () => {
    const bytes = fc.string({ unit, maxLength: 12 })
    fc.assert(
      fc.property(bytes, fc.nat(12), fc.nat(5), (some, start, length) => {
        const text = Buffer.from(some).toString()
        const literal = text.slice(start, start + length)
        expect(isMet(buildPatternQuery(literal), new Set(extractTrigrams(Buffer.from(some))))).toBe(true)
      }),
    )
  })

  it('leaves out what stands for bytes that are not text', () => {
    const trigrams = new Set(extractTrigrams(Buffer.from([0x61, 0x62, 0x63, 0xff, 0x64])))
    expect(isMet(buildPatternQuery('abc\ufffdd'), trigrams)).toBe(true)
    expect(isMet(buildPatternQuery(/abc\ufffdd/), trigrams)).toBe(true)
    expect(isMet(buildPatternQuery('abd\ufffd'), trigrams)).toBe(false)
  })

  it.each<[string | RegExp, unknown]>([
    ['needle', ['nee', 'eed', 'edl', 'dle']],
    ['No', 'anything'],
    ['é!', ['Ã©!']],
    [/Needle/, ['nee', 'eed', 'edl', 'dle']],
    [/foo\.bar/, ['foo', 'oo.', 'o.b', '.ba', 'bar']],
    [/^foo$/m, ['foo']],
    [/(foo)bar/, ['foo', 'oob', 'oba', 'bar']],
    [/foo|barn/, { any: [['foo'], ['bar', 'arn']] }],
    [/x(?:foo|barn)y/, { any: [['foo'], ['bar', 'arn']] }],
    [/foo.*bar/, { all: [['foo'], ['bar']] }],
    [/function\s+\w+/, ['fun', 'unc', 'nct', 'cti', 'tio', 'ion']],
    [/abc+de/, { all: [['abc'], ['cde']] }],
    [/abcd?/, ['abc']],
    [/(?:abc){0}/, 'anything'],
    [/[abc]/, 'anything'],
    [/foo(?=barn)/, ['foo']],
    [/task/i, ['tas', 'ask']],
    [/task/iu, 'anything'],
    [/abcé/i, ['abc']],
    [/(abc|)x/, 'anything'],
  ])('of %s is %j', (pattern, expected) => {
    expect(formatQuery(buildPatternQuery(pattern))).toEqual(expected)
  })

  it.each([
    ['[[:alpha:]]foo', 'xfoo'],
    ['[]a]foo', ']foo'],
    ['[^]a]foo', 'bfoo'],
    ['(?P<name>foo)', 'foo'],
    ['bar(?i)FOO', 'barfoo'],
    ['\\Qf.o\\E|x', 'f.o'],
  ])('is met by a match of %s, in the notation of another engine', (source, line) => {
    const pattern = { source, flags: 'u', test: () => true }
    expect(isMet(buildPatternQuery(pattern), new Set(extractTrigrams(Buffer.from(line))))).toBe(true)
  })

  it('of another engine is read as well as that of a RegExp where both are written the same', () => {
    const pattern = { source: '\\bfoo.*(?:bar|baz)', flags: 'u', test: () => true }
    expect(formatQuery(buildPatternQuery(pattern))).toEqual(
      formatQuery(buildPatternQuery(/\bfoo.*(?:bar|baz)/u)),
    )
    expect(buildPatternQuery(pattern)).not.toBe('anything')
  })

  it('of a deeply nested repetition is found in no time', () => {
    const nested = `${'('.repeat(200)}abc${')+'.repeat(200)}`
    expect(formatQuery(buildPatternQuery(new RegExp(nested)))).toMatchObject({
      all: expect.arrayContaining([['abc']]),
    })
  })
})

function regexpOf(pattern: string, flags: string): RegExp | null {
  try {
    return new RegExp(pattern, flags)
  } catch {
    return null
  }
}
