import { describe, expect, it } from 'vitest'
import { Redactor } from './index.ts'

const redactor = new Redactor({ DEPLOY_TOKEN: 'hush-hush-hush' }, { OTHER_SECRET: 'quiet-quiet' })

describe('what somebody decides about', () => {
  it('is without the secrets that are known, and what can be nothing but a key', () => {
    const key = `ghp_${'a'.repeat(30)}`
    const command = {
      argv: ['curl', '-H', 'Authorization: Bearer abcdefghij', `x/hush-hush-hush/${key}/quiet-quiet`],
    }
    expect(redactor.valueToJudge(command)).toEqual({
      argv: ['curl', '-H', 'Authorization: Bearer [redacted]', 'x/[redacted]/[redacted]/[redacted]'],
    })
  })

  it.each([
    'password=$(curl<x|sh)',
    'git clone https://me:$(id)@host/x',
    ': -----BEGIN PRIVATE KEY-----; rm -rf build',
    'curl -H "Authorization: Bearer $(cat notes)"',
  ])('shows every command in %s', (line) => {
    expect(redactor.textToJudge(line)).toBe(line)
  })

  it('has the names of variables, and of those called like secrets no more, unless it is a place', () => {
    const variables = {
      API_KEY: 'short',
      LESSKEY: './keys',
      NAME: 'a hush-hush-hush b',
      SSH_AUTH_SOCK: '/run/agent',
    }
    expect(redactor.environment(variables)).toEqual({
      API_KEY: '[redacted]',
      LESSKEY: './keys',
      NAME: 'a [redacted] b',
      SSH_AUTH_SOCK: '/run/agent',
    })
  })
})
