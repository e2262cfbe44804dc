import fc from 'fast-check'
import { describe, expect, it } from 'vitest'
import { DEFAULT_PROTECTED_NAMES, ProtectedNames } from './protected-names.ts'

const usual = new ProtectedNames(DEFAULT_PROTECTED_NAMES)

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
  it('are protected at every depth, in every spelling, with everything below', () => {
    const above = fc.array(fc.constantFrom('src', 'a b', '…', 'x℀'), { maxLength: 3 })
    const below = fc.array(fc.constantFrom('pre-commit', 'deep', '.x'), { maxLength: 2 })
    const spelled = fc.constantFrom(...DEFAULT_PROTECTED_NAMES).chain(twins)
    fc.assert(
      fc.property(above, spelled, below, (before, name, after) => {
        expect(usual.findRefusal(`/${[...before, name, ...after].join('/')}`)).toBeDefined()
      }),
    )
  })

  it.each([
    '/p/.git/commondir',
    '/p/.git/config.worktree',
    '/p/.git/info/attributes',
    '/p/.git/modules/lib/config',
    '/p/.git/worktrees/w/gitdir',
    '/p/.git/HEAD',
  ])('are all that git reads for its own: %s', (path) => {
    expect(usual.findRefusal(path)).toContain("'.git'")
  })

  it.each([
    '.git::$INDEX_ALLOCATION',
    '.git:stream',
    '.GIT .::$DATA',
    'git~1',
    'GIT~1',
    'GIT~12',
    'gi7eba~1',
    'Git~2::$INDEX_ALLOCATION',
    'ENV~1',
    'ssh~3',
  ])('have other names on disks of Windows: %s', (name) => {
    expect(usual.findRefusal(`/p/${name}/config`)).toBeDefined()
  })

  it('have short names, distinct for two names with the same stem', () => {
    const names = new ProtectedNames(['credentials.json', 'credential/key', 'conf'])
    expect(names.findRefusal('/a/CREDEN~1.JSO')).toContain("'credentials.json'")
    expect(names.findRefusal('/a/creden~2/key')).toContain("'credential/key'")
    expect(names.findRefusal('/a/CRA1B2~1.JSO')).toContain("'credentials.json'")
    expect(names.findRefusal('/a/creden~1.txt')).toBeUndefined()
    expect(names.findRefusal('/a/conf~1')).toBeUndefined()
    expect(names.findRefusal(`/${'creden~1/'.repeat(1000)}x`)).toBeUndefined()
  })

  it.each([
    '/p/.gitignore',
    '/p/git~x',
    '/p/~1',
    '/p/:.git',
    '/p/a:.git',
    '/p/legit~1',
    '/p/.github/workflows/x',
    '/p/src/env',
    '/p/.env.example',
    '/p/ssh',
    '/p/x.env',
    '/p/hooks/a',
  ])('leave alone what only looks like one: %s', (path) => {
    expect(usual.findRefusal(path)).toBeUndefined()
  })

  it('include their parents, so that no file replaces one', () => {
    expect(new ProtectedNames(['conf/*/key']).findRefusal('/p/conf')).toContain("'conf/*/key'")
    expect(new ProtectedNames(['conf/*/key']).findRefusal('/p/conf/notes')).toBeUndefined()
    expect(new ProtectedNames(['**/key']).findRefusal('/p')).toBeUndefined()
  })

  it('may be globs, and whole paths', () => {
    const names = new ProtectedNames(['*.{pem,KEY}', '/srv/app/Config', 'Straße'])
    expect(names.findRefusal('/a/b/server.PEM')).toContain("'*.{pem,KEY}'")
    expect(names.findRefusal('/a/server.key')).toContain("'*.{pem,KEY}'")
    expect(names.findRefusal('/srv/app/config/x')).toContain("'/srv/app/Config'")
    expect(names.findRefusal('/other/srv/app/config')).toBeUndefined()
    expect(names.findRefusal('/a/STRASSE')).toContain("'Straße'")
  })

  it.each(['', '/', '[z-a]'])('reject an invalid pattern: %j', (pattern) => {
    expect(() => new ProtectedNames([pattern])).toThrow(expect.objectContaining({ code: 'EINVAL' }))
  })
})
