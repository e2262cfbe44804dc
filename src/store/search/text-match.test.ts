import { expect, it } from 'vitest'
import { extractSnippets } from './text-match.ts'
import { parseTextQuery } from './text-query.ts'

it('shows the first of any number of matches in a line', () => {
  const line = Buffer.from(`${'-'.repeat(300)}word ${'word '.repeat(200_000)}`)
  const [snippet] = extractSnippets(line, parseTextQuery('word'))
  expect(snippet?.line).toBe(1)
  expect(snippet?.text.indexOf('word')).toBe(51)
})
