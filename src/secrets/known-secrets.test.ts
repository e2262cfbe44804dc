import fc from 'fast-check'
import { describe, expect, it } from 'vitest'
import { isSecretName, KnownSecrets, Redactor } from './index.ts'

const secret = fc
  .string({ unit: 'grapheme', minLength: 8, maxLength: 40 })
  .filter((text) => text.trim().length >= 8 && !'[redacted]'.includes(text.trim()))

describe('KnownSecrets', () => {
  it('redacts a value in text, in JSON at any depth, and in a URL', () => {
    const property = fc.property(secret, fc.nat(3), (value, depth) => {
      const known = new KnownSecrets([value])
      let nested = `a ${value.trim()} b`
      for (let level = 0; level < depth; level++) nested = JSON.stringify({ nested })
      expect(known.redact(nested)).toContain('[redacted]')
      expect(known.redact(`?a=${encodeURIComponent(value.trim())}&b`)).toBe('?a=[redacted]&b')
    })
    fc.assert(property)
  })

  it('redacts every string, number and key of a value', () => {
    const known = new KnownSecrets(['hush-hush', '1234567890'])
    const value = { list: ['a hush-hush', 7], 'hush-hush': { pin: 1234567890 }, none: null, is: true }
    expect(known.redactValue(value)).toEqual({
      list: ['a [redacted]', 7],
      '[redacted]': { pin: '[redacted]' },
      none: null,
      is: true,
    })
    expect(known.redactValue(undefined)).toBe(undefined)
  })

  it('redacts single lines of a value, and keeps the frame of a key for the patterns', () => {
    const body = 'MIIEvQIBADANBgkqhkiG9w0'
    const frame = (text: string) => `-----BEGIN PRIVATE KEY-----\n${text}\n-----END PRIVATE KEY-----\n`
    const redactor = new Redactor({ SIGNING_KEY: frame(body) })
    expect(redactor.redactText(`line 2: ${body}`)).toBe('line 2: [redacted]')
    expect(redactor.redactText(frame('another key').trim())).toBe('[redacted]')
  })

  it('redacts the rest of a value in truncated text', () => {
    // Nothing that stands between them.
    const word = fc.string({ unit: fc.constantFrom(...'abcXYZ019"\\/&'), minLength: 8, maxLength: 40 })
    const cut = fc.property(word, word, fc.nat(40), fc.nat(40), (one, other, from, to) => {
      const known = new KnownSecrets([one, other])
      const [begun, ended] = [
        one.slice(from % (one.length - 3)),
        other.slice(0, 4 + (to % (other.length - 3))),
      ]
      expect(known.redactTruncated(`${begun} = | = ${ended}`)).toBe('[redacted] = | = [redacted]')
      expect(known.redactTruncated(' = | = ')).toBe(' = | = ')
    })
    fc.assert(cut)
  })

  it('redacts the longer of two values first, and values added later', () => {
    const known = new KnownSecrets(['abcdefgh'])
    known.add(['abcdefgh-ijkl', 'abcdefgh', 'short'])
    expect(known.redact('abcdefgh-ijkl abcdefgh short')).toBe('[redacted] [redacted] short')
  })
})

it('a redactor redacts secrets added later', () => {
  const redactor = new Redactor()
  expect(redactor.redactText('quiet-quiet')).toBe('quiet-quiet')
  redactor.addSecrets(['quiet-quiet'])
  expect(redactor.redactValue({ text: ['quiet-quiet'] })).toEqual({ text: ['[redacted]'] })
})

it.each(['SERVICE_TOKEN', 'Authorization', 'X-Api-Key', 'Cookie', 'DB_PWD', 'GITHUB_PAT'])(
  '%s is the name of a secret',
  (name) => {
    expect(isSecretName(name)).toBe(true)
  },
)

it.each(['PWD', 'OLDPWD', 'AUTHOR', 'XAUTHORITY', 'PATH', 'KEYBOARD', 'PATTERN'])('%s is not', (name) => {
  expect(isSecretName(name)).toBe(false)
})
