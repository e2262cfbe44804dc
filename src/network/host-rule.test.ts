import fc from 'fast-check'
import { describe, expect, it } from 'vitest'
import { normalizeHost, parseTarget } from './host-name.ts'
import { coversHostRule, formatHostRule, matchesHostRule, parseHostRule } from './host-rule.ts'

function allows(rule: string, host: string, port = 443): boolean {
  return matchesHostRule(parseHostRule(rule), { host, port })
}

describe('a host rule', () => {
  it.each([
    ['Example.COM', 'example.com'],
    ['example.com.', 'example.com'],
    ['bücher.example', 'xn--bcher-kva.example'],
    ['example.com:8443', 'example.com:8443'],
    ['*.Example.com', '*.example.com'],
    ['*.example.com:22', '*.example.com:22'],
    ['192.0.2.7', '192.0.2.7'],
    ['0xC0.0.2.7', '192.0.2.7'],
    ['2001:DB8::0:1', '2001:db8::1'],
    ['[2001:db8::1]:443', '[2001:db8::1]:443'],
    ['localhost:5432', 'localhost:5432'],
  ])('reads %s as %s', (text, expected) => {
    const rule = parseHostRule(text)
    expect(formatHostRule(rule)).toBe(expected)
    expect(parseHostRule(formatHostRule(rule))).toEqual(rule)
  })

  it.each([
    ['', 'is not a host'],
    ['*', 'use --network'],
    ['https://example.com/', 'is a URL'],
    ['me@example.com', 'is not a host'],
    ['example.com/path', 'is not a host'],
    ['example.com:0', 'port outside'],
    ['example.com:65536', 'port outside'],
    ['a*.example.com', 'is not a host'],
    ['*.192.0.2.7', 'wildcard before an address'],
    ['a..b', 'is not a host'],
    ['ex%61mple.com', 'is not a host'],
    ['fe80::1%eth0', 'is not a host'],
    ['localhost', 'name a port'],
    ['127.1', 'name a port'],
    ['0.0.0.0', 'name a port'],
    ['::ffff:127.0.0.1', 'name a port'],
  ])('refuses %j: %s', (text, message) => {
    expect(() => parseHostRule(text)).toThrow(message)
  })

  it('allows the name it has, on the port it has', () => {
    expect(allows('example.com', 'example.com', 22)).toBe(true)
    expect(allows('example.com:443', 'example.com', 443)).toBe(true)
    expect(allows('example.com:443', 'example.com', 22)).toBe(false)
    expect(allows('example.com', 'www.example.com')).toBe(false)
    expect(allows('example.com', 'notexample.com')).toBe(false)
  })

  it('allows the names below a wildcard, at any depth, and not the name itself', () => {
    expect(allows('*.example.com', 'a.b.example.com')).toBe(true)
    expect(allows('*.example.com', 'example.com')).toBe(false)
    expect(allows('*.example.com', 'notexample.com')).toBe(false)
    expect(allows('*.example.com', 'example.com.evil.example')).toBe(false)
  })

  it('covers a rule if it allows everything that one allows', () => {
    const label = fc.constantFrom('a', 'b', 'c')
    const name = fc
      .array(label, { minLength: 1, maxLength: 4 })
      .map((labels) => `${labels.join('.')}.example`)
    const port = fc.constantFrom('', ':1', ':2')
    const rule = fc.tuple(fc.constantFrom('', '*.'), name, port).map((parts) => parseHostRule(parts.join('')))
    fc.assert(
      fc.property(rule, rule, name, fc.constantFrom(1, 2, 3), (wide, narrow, host, port) => {
        const isAllowed = coversHostRule(wide, narrow) && matchesHostRule(narrow, { host, port })
        expect(isAllowed && !matchesHostRule(wide, { host, port })).toBe(false)
      }),
      { numRuns: 2000 },
    )
    expect(coversHostRule(parseHostRule('*.example.com'), parseHostRule('www.example.com:443'))).toBe(true)
    expect(coversHostRule(parseHostRule('example.com:443'), parseHostRule('example.com'))).toBe(false)
  })
})

describe('a target', () => {
  it.each(['0x7f.1', '2130706433', '127.1', '0177.0.0.1', '①②⑦.0.0.1'])('has one form for %s', (host) => {
    expect(normalizeHost(host)).toBe('127.0.0.1')
  })

  it.each([
    'example.com',
    'example.com:',
    'example.com:0',
    'example.com:443:443',
    'me:secret@example.com:443',
    'example.com@evil.example:443',
    'example.com\\evil.example:443',
    'example.com#evil.example:443',
    '[::1:443',
    '[example.com]:443',
    'exa mple.com:443',
    ':443',
  ])('is not %j', (text) => expect(parseTarget(text)).toBeUndefined())
})
