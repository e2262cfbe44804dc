import fc from 'fast-check'
import { describe, expect, it } from 'vitest'
import { ProtectedNames, USUALLY_PROTECTED } from './protected-names.ts'

const usual = new ProtectedNames(USUALLY_PROTECTED)

/** Spellings of a character that some disk takes for the same. */
function spellings(character: string): fc.Arbitrary<string> {
  const wide = character >= '!' && character <= '~' && character !== '/'
  return fc
    .tuple(
      fc.constantFrom(
        character,
        character.toUpperCase(),
        wide ? String.fromCodePoint((character.codePointAt(0) ?? 0) + 0xfee0) : character,
        ...(character === 's' ? ['ſ'] : []),
        ...(character === 'k' ? ['\u212a'] : []),
      ),
      fc.constantFrom('', '', '\u200b', '\u200d', '\u00ad', '\ufeff', '\ufe0f'),
    )
    .map((parts) => parts.join(''))
}

/** Spellings of a path that some disk takes for the same. */
function twins(path: string): fc.Arbitrary<string> {
  const names = path
    .split('/')
    .map((name) =>
      fc
        .tuple(...[...name].map(spellings), fc.constantFrom('', '.', ' ', '. '))
        .map((parts) => parts.join('')),
    )
  return fc.tuple(...names).map((spelled) => spelled.join('/'))
}

describe('protected names', () => {
  it('are protected at every depth, in every spelling, with all that is below', () => {
    const above = fc.array(fc.constantFrom('src', 'a b', '…', 'x℀'), { maxLength: 3 })
    const below = fc.array(fc.constantFrom('pre-commit', 'deep', '.x'), { maxLength: 2 })
    const spelled = fc.constantFrom(...USUALLY_PROTECTED).chain(twins)
    fc.assert(
      fc.property(above, spelled, below, (before, name, after) => {
        expect(usual.protecting(`/${[...before, name, ...after].join('/')}`)).toBeDefined()
      }),
    )
  })

  it.each([
    '/p/.gitignore',
    '/p/.git/HEAD',
    '/p/src/env',
    '/p/.env.example',
    '/p/ssh',
    '/p/x.env',
    '/p/hooks/a',
  ])('leave alone what only looks like one: %s', (path) => {
    expect(usual.protecting(path)).toBeUndefined()
  })

  it('include the directories on the way, so that no file takes their place', () => {
    expect(usual.protecting('/p/.git')).toBe('.git/hooks')
    expect(new ProtectedNames(['conf/*/key']).protecting('/p/conf')).toBe('conf/*/key')
    expect(new ProtectedNames(['conf/*/key']).protecting('/p/conf/notes')).toBeUndefined()
    expect(new ProtectedNames(['**/key']).protecting('/p')).toBeUndefined()
  })

  it('may be globs, and whole paths', () => {
    const names = new ProtectedNames(['*.{pem,KEY}', '/srv/app/Config', 'Straße'])
    expect(names.protecting('/a/b/server.PEM')).toBe('*.{pem,KEY}')
    expect(names.protecting('/a/server.key')).toBe('*.{pem,KEY}')
    expect(names.protecting('/srv/app/config/x')).toBe('/srv/app/Config')
    expect(names.protecting('/other/srv/app/config')).toBeUndefined()
    expect(names.protecting('/a/STRASSE')).toBe('Straße')
  })

  it.each(['', '/', '[z-a]'])('are refused when they cannot be any: %j', (pattern) => {
    expect(() => new ProtectedNames([pattern])).toThrow(expect.objectContaining({ code: 'EINVAL' }))
  })
})
