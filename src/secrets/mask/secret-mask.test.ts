import fc from 'fast-check'
import { describe, expect, it } from 'vitest'
import { hasPlaceholder, SecretFiles, SecretMask } from '../index.ts'

const mask = new SecretMask(Buffer.alloc(32, 7), '/project')
const PLACEHOLDER = /coppice-secret-[0-9a-f]{32}/g

function masked(content: string, path = '/.env'): string {
  return Buffer.from(mask.mask(path, Buffer.from(content))).toString()
}

function restored(content: string, real: string, path = '/.env'): string {
  return Buffer.from(mask.restore(path, Buffer.from(content), Buffer.from(real)).bytes).toString()
}

const DOTENV = `# a comment with KEY=value
export TOKEN=abc123def
QUOTED="a b # c \\" d"  # note
SINGLE='x y'
EMPTY=
PORT=3000
DEBUG=true
NODE_ENV=production
MULTI="-----BEGIN KEY-----
line two
-----END KEY-----"
URL=postgres://u:p@h/db?x=1#frag
`

describe('another state of a masked file', () => {
  it('shows the values that a state in the fork has at the same key, and no others', () => {
    const base = masked('A=secret\nB=secret\n')
    const fork = `${base}C=own\n`
    const maskLike = (content: string, ...states: string[]) =>
      Buffer.from(
        mask.maskLike(
          '/.env',
          Buffer.from(content),
          Buffer.from(base),
          states.map((state) => Buffer.from(state)),
        ),
      ).toString()
    expect(maskLike('A=secret\nB=secret\nC=own\n', base, fork)).toBe(fork)
    expect(maskLike('A=own\nB=C\nC=other\n', base, fork).match(PLACEHOLDER)).toHaveLength(3)
    expect(maskLike('A=public\n', base, 'A=public\n')).toBe('A=public\n')
  })
})

describe('a masked file', () => {
  it('of dotenv lines has the same keys, and no secret value', () => {
    const shown = masked(DOTENV)
    expect(shown.replaceAll(PLACEHOLDER, 'P')).toBe(`# a comment with KEY=value
export TOKEN=P
QUOTED="P"  # note
SINGLE='P'
EMPTY=
PORT=3000
DEBUG=true
NODE_ENV=production
MULTI="P"
URL=P
`)
    expect(new Set(shown.match(PLACEHOLDER)).size).toBe(5)
    expect(restored(shown, DOTENV)).toBe(DOTENV)
  })

  it('of JSON has the same keys, and stays JSON', () => {
    const real =
      '{\n  "type": "service_account",\n  "ids": [123456789, true, null, ["k\\"ey"]],\n  "a": {"a": "x"}\n}\n'
    const shown = masked(real, '/credentials.json')
    expect(JSON.parse(shown)).toEqual({
      type: expect.stringMatching(PLACEHOLDER),
      ids: [expect.stringMatching(PLACEHOLDER), true, null, [expect.stringMatching(PLACEHOLDER)]],
      a: { a: expect.stringMatching(PLACEHOLDER) },
    })
    expect(restored(shown, real, '/credentials.json')).toBe(real)
  })

  it('of INI sections has one placeholder for each key of each section', () => {
    const real = '[default]\nkey = one-secret\n[other]\nkey = two-secret\n'
    const shown = masked(real)
    expect(shown.replaceAll(PLACEHOLDER, 'P')).toBe('[default]\nkey = P\n[other]\nkey = P\n')
    expect(new Set(shown.match(PLACEHOLDER)).size).toBe(2)
    expect(restored(shown, real)).toBe(real)
  })

  it.each([
    ['a private key', '-----BEGIN PRIVATE KEY-----\nMIIE\n-----END PRIVATE KEY-----\n'],
    ['bytes', '\u0000\u0001secret'],
    ['another format', 'a: [1, 2\nsecret without a key\n'],
  ])('of %s is one placeholder', (_what, real) => {
    expect(masked(real, '/a.key')).toMatch(/^coppice-secret-[0-9a-f]{32}\n$/)
    expect(restored(masked(real, '/a.key'), real, '/a.key')).toBe(real)
  })

  it('of certificates alone is shown', () => {
    const real = '-----BEGIN CERTIFICATE-----\nMIIC\n-----END CERTIFICATE-----\n'
    expect(masked(real, '/ca.pem')).toBe(real)
  })

  it('shows the same placeholders every time, and others for another file, key, project or home', () => {
    const real = 'A=secret-value\nB=secret-value\n'
    expect(masked(real)).toBe(masked(real))
    const all = [
      masked(real),
      masked(real, '/other/.env'),
      Buffer.from(new SecretMask(Buffer.alloc(32, 7), '/other').mask('/.env', Buffer.from(real))).toString(),
      Buffer.from(
        new SecretMask(Buffer.alloc(32, 8), '/project').mask('/.env', Buffer.from(real)),
      ).toString(),
    ]
    expect(new Set(all.flatMap((text) => text.match(PLACEHOLDER))).size).toBe(8)
    // Another value of the same key has the same placeholder: it says nothing about the value.
    expect(masked('A=another\nB=value-two\n')).toBe(masked(real))
  })
})

describe('masking a masked file', () => {
  it('changes nothing', () => expect(masked(masked(DOTENV))).toBe(masked(DOTENV)))
})

describe('restoring a changed file', () => {
  const real = 'A=real-a\nB="real b"\nPORT=3000\n'

  it('takes added and changed keys, and keeps the values of the others', () => {
    const changed = `${masked(real)
      .replace('PORT=3000', 'PORT=4000')
      .replace(/^A=.*$/m, 'A=chosen')}NEW=1\n`
    expect(restored(changed, real)).toBe('A=chosen\nB="real b"\nPORT=4000\nNEW=1\n')
  })

  it('keeps values through another order, other quotation marks and removed keys', () => {
    const [a = '', b = ''] = masked(real).match(PLACEHOLDER) ?? []
    expect(restored(`export B=${b}\nA='${a}'\n`, real)).toBe('export B="real b"\nA=real-a\n')
    expect(restored(`B=${b}\n`, real)).toBe('B="real b"\n')
  })

  it('finds placeholders between lines of any kind', () => {
    const changed = `broken line\n${masked(real)}{ "x": \n`
    expect(restored(changed, real)).toBe(`broken line\n${real}{ "x": \n`)
  })

  it('is impossible for another format with placeholders', () => {
    const json = '{"a": "secret-1"}'
    const can = (content: string, of: string) => mask.canRestore('/f', Buffer.from(content), Buffer.from(of))
    expect(can(`${masked(json, '/f')},`, json)).toBe(false)
    expect(can('{"a": "new"},', json)).toBe(true)
    expect(can(masked(json, '/f'), json)).toBe(true)
    expect(can(`${masked('\u0000', '/f')}more\n`, '\u0000')).toBe(false)
    expect(can(`x\n${masked(real, '/f')}`, real)).toBe(true)
  })

  it('leaves a placeholder at another key, in a larger value or in another file', () => {
    const [a = '', b = ''] = masked(real).match(PLACEHOLDER) ?? []
    for (const moved of [`PUBLIC=${a}\n`, `A=x-${a}\n`, `A=${b}\n`, `# ${a}\n`]) {
      expect(restored(moved, real)).toBe(moved)
      expect(mask.restore('/.env', Buffer.from(moved), Buffer.from(real)).hasPlaceholders).toBe(true)
    }
    expect(restored(masked(real), real, '/copy.env')).toBe(masked(real))
  })

  it('has the last real value', () => {
    expect(restored(masked(real), 'A=renewed\nB="real b"\nPORT=3000\n')).toBe(
      'A=renewed\nB="real b"\nPORT=3000\n',
    )
  })

  it('returns any file as it was', () => {
    const line = fc.tuple(
      fc.stringMatching(/^[A-Z_]{1,8}$/),
      fc.oneof(
        fc.stringMatching(/^[\w .:/#'"-]{0,20}$/),
        fc.string().map((text) => JSON.stringify(text)),
      ),
    )
    const dotenv = fc.array(line).map((lines) => lines.map(([key, value]) => `${key}=${value}\n`).join(''))
    const anything = fc.oneof(
      dotenv,
      fc.json(),
      fc.string(),
      fc.uint8Array().map((bytes) => Buffer.from(bytes).toString('latin1')),
    )
    fc.assert(
      fc.property(anything, (content) => {
        const real = Buffer.from(content)
        const shown = mask.mask('/.env', real)
        expect(Buffer.from(mask.restore('/.env', shown, real).bytes).equals(real)).toBe(true)
        expect(mask.isMasked('/.env', shown)).toBe(!Buffer.from(shown).equals(real))
        expect(hasPlaceholder(real)).toBe(false)
      }),
    )
  })
})

describe('the files that are masked', () => {
  const files = new SecretFiles()
  it.each([
    '.env',
    '.env.local',
    'api/.env',
    'prod.env',
    'server.pem',
    'a/tls.key',
    'credentials.json',
    'credentials-dev.json',
    'gcp-credentials.json',
    'my-service-account.json',
    'id_ed25519',
    '.ENV',
  ])('include %s', (path) => expect(files.includes(`/${path}`)).toBe(true))
  it.each([
    '.env~',
    '#.env#',
    '.#.env',
    '.env.swp',
    '..env.swp',
    'server.pem.bak',
    '.server.pem.swp',
    '.service-account.json.swp',
    'credentials.json~',
  ])('include the backup %s', (path) => expect(files.includes(`/${path}`)).toBe(true))
  it.each([
    '.env.example',
    '.env.sample',
    'env',
    'environment.ts',
    'monkey',
    'keys.ts',
    'credentials.ts',
    'package.json',
  ])('do not include %s', (path) => expect(files.includes(`/${path}`)).toBe(false))
  it('can be others', () => {
    const own = new SecretFiles(['conf/*.yml', '!conf/public.yml', 'deep/**/x'])
    expect(
      ['conf/a.yml', 'conf/public.yml', 'a/conf/a.yml', 'deep/x', 'deep/a/b/x'].map((path) =>
        own.includes(path),
      ),
    ).toEqual([true, false, false, true, true])
  })

  it('take a pattern with a leading slash for a path of the project', () => {
    const own = new SecretFiles(['.env', '!/.env', '/top'])
    expect(['/.env', '/app/.env', '/top', '/app/top'].map((path) => own.includes(path))).toEqual([
      false,
      true,
      true,
      false,
    ])
  })
})
