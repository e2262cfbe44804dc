import { join } from 'node:path'
import { describe, expect, it } from 'vitest'
import { root } from './support/run-node.ts'
import { countWording } from './support/wording.ts'

/** The counts of the style that the project left. Each limit only goes down: a change that gets below one lowers it. */
const LIMITS = {
  tellWords: 6,
  testTitles: 0,
  questions: 1,
  participles: 3,
  endingInOf: 5,
  repeatedTypes: 0,
  banned: 0,
} as const

describe('the wording of the sources', () => {
  const counts = countWording(join(root, 'src'))

  it.each([
    ['the words told, tell and tells', counts.tellWords, LIMITS.tellWords],
    ['titles of tests with these words', counts.testTitles, LIMITS.testTitles],
    ['functions named by a participle', counts.participles, LIMITS.participles],
    ['functions whose name ends in Of', counts.endingInOf, LIMITS.endingInOf],
    ['exported type names that several files declare', counts.repeatedTypes, LIMITS.repeatedTypes],
    ['banned phrases', counts.banned, LIMITS.banned],
    ['documentation that opens with a question word', counts.questions, LIMITS.questions],
  ])('has as few as it had: %s', (_what, found, limit) => {
    expect(found.length, found.join('\n')).toBeLessThanOrEqual(limit)
    expect(found.length, `lower the limit to ${found.length}`).toBeGreaterThanOrEqual(limit)
  })
})
