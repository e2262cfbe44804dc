import { describe, expect, it } from 'vitest'
import { toPatterns } from '../src/secrets/known-secrets.ts'
import {
  BEARER_ON_ONE_LINE,
  MARKED_SECRETS,
  PRIVATE_KEY,
  TOKENS,
  URL_PASSWORD,
} from '../src/secrets/secret-patterns.ts'
import { countSteps } from './support/regex-steps.ts'

const VALUES = ['a\\\\b-secret', '\\\\begins-so', '"quoted"\\"so"', 'ends so\\\\', 'a\\\n\\\t"\\\\"lines\n"']
const PATTERNS = [
  ...TOKENS,
  PRIVATE_KEY,
  URL_PASSWORD,
  BEARER_ON_ONE_LINE,
  ...MARKED_SECRETS,
  ...VALUES.flatMap(toPatterns),
]
const COMMON = [...'aA1-_./:=@ "\'\\\n', '\\n', '\\"', 'a-', 'a.', 'a:', ' a', ' -u a', '://']
const LENGTH = 400

/** Texts made of what a pattern looks for, over and over, behind its beginning: where engines go back again. */
function hostileTexts({ source }: RegExp, length: number): string[] {
  const plain = source.replaceAll(/\\b|\(\?<?[=!:]?|\[(?:\\.|[^\]\\])*\]|\{[\d,]*\}|[\^$]/g, '|')
  const words = plain.split(/[|()*+?]+/).map((word) => word.replaceAll(/\\(.)/g, '$1'))
  const own = [...new Set(words.filter((word) => word.length > 1))].slice(0, 8)
  return ['', ...own].flatMap((begin) =>
    [...COMMON, ...own].map((part) => `${begin}${part.repeat(Math.ceil(length / part.length))}\0`),
  )
}

/** How many times the steps of a text are those of one a quarter as long, at most. */
function worstGrowth(pattern: RegExp): { readonly growth: number; readonly text: string } {
  const short = hostileTexts(pattern, LENGTH)
  const long = hostileTexts(pattern, 4 * LENGTH)
  return short
    .map((text, at) => ({
      growth: countSteps(pattern, long[at] ?? '') / countSteps(pattern, text),
      text: text.slice(0, 40),
    }))
    .reduce((worst, one) => (one.growth > worst.growth ? one : worst))
}

describe('patterns that take secrets out of texts', () => {
  it.each(PATTERNS)('%s goes through hostile texts in steps that grow with their length', (pattern) => {
    expect(worstGrowth(pattern)).toMatchObject({ growth: expect.toSatisfy((growth) => growth < 6) })
  })

  it('would be seen to take the square of the length, or more', () => {
    for (const pattern of [/a+$/g, /\\*"x/g, /eyJ[\w-]+\.x/g])
      expect(worstGrowth(pattern).growth).toBeGreaterThan(10)
  })
})
