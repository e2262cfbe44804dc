import { describe, expect, it } from 'vitest'
import { parseHostRule } from './host-rule.ts'
import { NetworkAccess } from './network-access.ts'

/** Decides about a target at given addresses. */
function decide(rules: readonly string[], host: string, addresses: readonly string[], port = 443) {
  return new NetworkAccess(rules.map(parseHostRule), async () => addresses).decide({ host, port })
}

describe('access to a host', () => {
  it('goes to the addresses that were checked', async () => {
    expect(await decide(['example.com'], 'example.com', ['93.184.215.14', '2606:4700::1111'])).toEqual({
      decision: 'allowed',
      addresses: ['93.184.215.14', '2606:4700::1111'],
    })
  })

  it('names the rule that would allow a host', async () => {
    expect(await decide([], 'example.com', [])).toMatchObject({ decision: 'refused', remedy: 'example.com' })
    expect(await decide([], 'example.com', [], 22)).toMatchObject({ remedy: 'example.com:22' })
    expect(await decide([], '2001:db8::1', [], 22)).toMatchObject({ remedy: '[2001:db8::1]:22' })
  })

  it.each([
    '127.0.0.1',
    '10.0.0.5',
    '169.254.169.254',
    '100.64.0.1',
    '224.0.0.1',
    '0.0.0.0',
    '::1',
    '::ffff:127.0.0.1',
    '64:ff9b::7f00:1',
    'fd00:ec2::254',
    'fe80::1',
  ])('refuses a public name that leads to %s', async (address) => {
    const decision = await decide(['example.com', '*.example.com'], 'example.com', [address])
    expect(decision).toMatchObject({ decision: 'refused', reason: expect.stringContaining(address) })
  })

  it('leaves out addresses that are not public', async () => {
    expect(await decide(['example.com'], 'example.com', ['127.0.0.1', '93.184.215.14'])).toMatchObject({
      addresses: ['93.184.215.14'],
    })
  })

  it('goes to a private address that a rule names, on its port', async () => {
    const rules = ['example.com', '10.0.0.5:443']
    expect(await decide(rules, 'example.com', ['10.0.0.5'])).toMatchObject({ decision: 'allowed' })
    expect(await decide(rules, 'example.com', ['10.0.0.5'], 22)).toMatchObject({ decision: 'refused' })
    expect(await decide(rules, 'example.com', ['10.0.0.6'])).toMatchObject({ decision: 'refused' })
  })

  it('goes to private addresses of a name of the local network, and never to metadata', async () => {
    expect(await decide(['db.internal'], 'db.internal', ['10.0.0.5'])).toMatchObject({ decision: 'allowed' })
    for (const address of ['169.254.169.254', 'fe80::1', 'fd00:ec2::254'])
      expect(await decide(['db.internal'], 'db.internal', [address])).toMatchObject({ decision: 'refused' })
    expect(await decide(['*.internal'], 'db.internal', ['10.0.0.5'])).toMatchObject({ decision: 'refused' })
  })

  it('refuses an address that no rule names, although a name leads to it', async () => {
    const access = new NetworkAccess([parseHostRule('example.com')], async () => ['93.184.215.14'])
    expect(await access.decide({ host: '93.184.215.14', port: 443 })).toMatchObject({ decision: 'refused' })
  })

  it('fails for a name without an address', async () => {
    expect(await decide(['example.com'], 'example.com', [])).toMatchObject({ decision: 'failed' })
  })

  it('asks once for all who wait, and again after a failure', async () => {
    let asked = 0
    const access = new NetworkAccess([parseHostRule('example.com')], async () => {
      asked++
      if (asked === 1) throw new Error('no answer')
      return ['93.184.215.14']
    })
    const target = { host: 'example.com', port: 443 }
    expect(await access.decide(target)).toMatchObject({ decision: 'failed' })
    await Promise.all([access.decide(target), access.decide(target)])
    expect(asked).toBe(2)
  })
})
