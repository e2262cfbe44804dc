import fc from 'fast-check'
import { describe, expect, it } from 'vitest'
import { formatRoute, parseRoute } from './router.ts'

describe('an address of the page', () => {
  it('keeps any text, whatever characters it has', () => {
    const text = fc.string({ unit: 'grapheme', minLength: 1 })
    fc.assert(
      fc.property(text, text, (path, tree) => {
        const { screen, query } = parseRoute(formatRoute('files', { path, tree }))
        expect([screen, query.get('path'), query.get('tree')]).toEqual(['files', path, tree])
      }),
      { numRuns: 300 },
    )
  })

  it('leaves out what is not set', () => {
    expect(formatRoute('compare', { from: 'vault:a', to: undefined, path: '' })).toBe(
      '/compare?from=vault%3Aa',
    )
    expect(formatRoute('')).toBe('/')
    expect(parseRoute('/')).toMatchObject({ screen: '' })
  })
})
