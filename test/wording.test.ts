import { join } from 'node:path'
import { describe, expect, it } from 'vitest'
import { root } from './support/run-node.ts'
import { countWording } from './support/wording.ts'

/**
 * How often the sources may still use the style that we left. Each number only goes down: whoever gets below it lowers
 * it here.
 */
const LIMITS = {
  tellWords: 24,
  questionShare: 0.033,
  participles: 4,
  endingInOf: 8,
  repeatedTypes: 0,
  banned: 59,
} as const

describe('the wording of the sources', () => {
  const counts = countWording(join(root, 'src'))

  it.each([
    ['the words told, tell and tells', counts.tellWords, LIMITS.tellWords],
    ['functions named by a participle', counts.participles, LIMITS.participles],
    ['functions whose name ends in Of', counts.endingInOf, LIMITS.endingInOf],
    ['exported type names that several files declare', counts.repeatedTypes, LIMITS.repeatedTypes],
    ['banned phrases', counts.banned, LIMITS.banned],
  ])('has as few as it had: %s', (_what, found, limit) => {
    expect(found.length, found.join('\n')).toBeLessThanOrEqual(limit)
    expect(found.length, `lower the limit to ${found.length}`).toBeGreaterThanOrEqual(limit)
  })

  it('documents in statements: few one-line docs open with a question word', () => {
    const share = counts.questions.length / counts.docLines
    expect(share, counts.questions.join('\n')).toBeLessThanOrEqual(LIMITS.questionShare)
  })
})
