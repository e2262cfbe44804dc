import { expect, it } from 'vitest'
import { KnownSecrets } from '../../kernel/index.ts'
import { listSecrets } from './server-secrets.ts'

function redact(config: Record<string, unknown>, text: string): string {
  return new KnownSecrets(listSecrets(config)).redact(text)
}

it.each([
  ['a variable that is named like one', { SERVICE_TOKEN: 'hush-hush-hush' }, 'hush-hush-hush'],
  ['one that YAML took for a number', { SERVICE_PASS: 1234567890 }, '1234567890'],
  ['what looks made by a machine', { NOTION: 'ntn_4f9a8b7c6d5e4f3a2b1c' }, 'ntn_4f9a8b7c6d5e4f3a2b1c'],
  ['what follows a scheme', { AUTH_HEADER: 'Bearer quiet-quiet' }, 'quiet-quiet'],
  ['the password of an address', { DATABASE: 'postgres://app:p%40ssw0rd!@db/shop' }, 'p@ssw0rd!'],
  [
    'an address with a short password',
    { DATABASE: 'postgres://app:pw@db/shop' },
    'postgres://app:pw@db/shop',
  ],
  ['a key in an address', { HOOK: 'https://x.example/in?api_key=open-sesame' }, 'open-sesame'],
  ['what is within JSON', { HEADERS: '{"Authorization":"Bearer quiet-quiet"}' }, 'quiet-quiet'],
])('a secret of the environment is %s', (_what, env, secret) => {
  expect(redact({ env }, `<${secret}>`)).toBe('<[redacted]>')
})

it.each([
  ['the whole of it', { 'X-Anything': 'hush-hush-hush' }, 'hush-hush-hush'],
  ['what follows a scheme', { Authorization: 'Bearer quiet-quiet' }, 'quiet-quiet'],
  [
    'a pair of name and password',
    { Authorization: `Basic ${btoa('anna:open-sesame')}` },
    btoa('anna:open-sesame'),
  ],
  ['the password of such a pair', { Authorization: `Basic ${btoa('anna:open-sesame')}` }, 'open-sesame'],
  ['the value of a cookie', { Cookie: 'theme=dark; session=open-sesame' }, 'open-sesame'],
])('a secret of a header is %s', (_what, headers, secret) => {
  expect(redact({ headers }, `<${secret}>`)).toBe('<[redacted]>')
})

it('finds a key in the address of a server', () => {
  expect(redact({ url: 'https://x.example/mcp?token=open-sesame' }, 'open-sesame')).toBe('[redacted]')
})

it('does not treat ordinary values as secrets', () => {
  const env = {
    REGION: 'eu-central-1',
    ROOT: '/home/anna/notes',
    MODEL: 'small-model-3-5-20241022',
    PROJECT: 'my-project-123456',
    NODE_ENV: 'production',
    ENDPOINT: 'http://localhost:8080/path',
  }
  const headers = { Accept: 'application/json', 'User-Agent': 'coppice/1.0', 'Content-Type': 'text/plain' }
  expect(listSecrets({ env, headers, url: 'https://x.example/mcp?page=contents', command: 'x' })).toEqual([])
})

it.each([
  undefined,
  null,
  'SERVICE_TOKEN=hush',
  7,
  { SERVICE_TOKEN: null },
  { SERVICE_TOKEN: ['hush-hush'] },
])('finds no secrets in an invalid environment: %j', (env) => {
  expect(listSecrets({ env, headers: env, url: env })).toEqual([])
})
