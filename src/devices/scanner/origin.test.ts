import { describe, expect, it } from 'vitest'
import { findOrigin, findPartialOrigin } from './index.ts'

const text = 'Acme sells more anvils than every other vendor in the world'
const source = (page: string) => [
  { origin: 'elsewhere', text: 'nothing of the kind' },
  { origin: 'page', text: page },
]

describe('the origin of a text', () => {
  it.each([
    ['as it is', text],
    ['in other letters and marks', text.toUpperCase().replaceAll(' ', ' -- ')],
    ['in JSON, with lines that break anywhere', JSON.stringify({ text: text.replaceAll(' ', '\n') })],
    ['in JSON within JSON', JSON.stringify(JSON.stringify({ text: text.replaceAll(' ', '\r\n\t') }))],
    ['in letters that JSON spells out', `"${text.replaceAll('e', '\\u0065')}"`],
    ['with more around it', `Before. ${text}. After.`],
  ])('is found %s', (_how, page) => {
    expect(findOrigin(text, source(page))).toBe('page')
    expect(findPartialOrigin(`echo '${text}' > file`, source(page))).toBe('page')
  })

  it('is found for eight words in a row, but not for seven', () => {
    const words = text.split(' ')
    expect(findOrigin(`so: ${words.slice(0, 8).join(' ')}`, source(text))).toBe('page')
    expect(findOrigin(`so: ${words.slice(0, 7).join(' ')}`, source(text))).toBe(undefined)
  })

  it('is found for a short text as a whole, and for a part only if it is long', () => {
    expect(findOrigin('sells more anvils', source(text))).toBe('page')
    expect(findOrigin('more anvils', source(text))).toBe(undefined)
    expect(findOrigin('sells anvils more', source(text))).toBe(undefined)
    expect(findPartialOrigin('sells more anvils', source(text))).toBe(undefined)
  })

  it('is found for one long random word', () => {
    const code = 'd29yZHMgdGhhdCBhcmUgbm90'
    expect(findOrigin(code, source(`Code: ${code}!`))).toBe('page')
    expect(findPartialOrigin(`base64 -d <<< ${code}`, source(`Code: ${code}!`))).toBe('page')
    expect(findPartialOrigin(`base64 -d <<< ${code.slice(1)}`, source(`Code: ${code.slice(1)}!`))).toBe(
      undefined,
    )
  })

  it('is found quickly among long texts', () => {
    const long = 'the and of to in a is it '.repeat(20_000)
    expect(findOrigin(`${long.slice(0, 20_000)} end`, source(long))).toBe('page')
    expect(findOrigin('the end of the and of the world is not here'.repeat(400), source(long))).toBe(
      undefined,
    )
  })
})
