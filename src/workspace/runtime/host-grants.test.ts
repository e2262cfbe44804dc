import { describe, expect, it } from 'vitest'
import { formatHostRule, parseHostRule } from '../../network/index.ts'
import { MemoryFs } from '../../vfs/index.ts'
import { type GrantScope, HostGrants } from './host-grants.ts'

const PROJECT: GrantScope = { vault: '/home/me/shop' }
const FORK: GrantScope = { ...PROJECT, fork: 'fix-1' }

function setUp() {
  let time = Date.parse('2026-11-17T10:00:00Z')
  const grants = new HostGrants(new MemoryFs(), () => new Date(time))
  return {
    grants,
    pass: (ms: number) => {
      time += ms
    },
    hosts: async (scope: GrantScope) => (await grants.find(scope)).map(formatHostRule).sort(),
  }
}

describe('granted hosts', () => {
  it('hold for a project and all its forks, or for one fork', async () => {
    const { grants, hosts } = setUp()
    await grants.grant([parseHostRule('example.com')], PROJECT)
    await grants.grant([parseHostRule('*.example.org:443')], FORK)
    expect(await hosts(PROJECT)).toEqual(['example.com'])
    expect(await hosts(FORK)).toEqual(['*.example.org:443', 'example.com'])
    expect(await hosts({ ...PROJECT, fork: 'fix-2' })).toEqual(['example.com'])
    expect(await hosts({ vault: '/home/me/other' })).toEqual([])
  })

  it('end when they expire, and leave nothing', async () => {
    const { grants, pass, hosts } = setUp()
    await grants.grant([parseHostRule('example.com')], PROJECT, new Date('2026-11-17T11:00:00Z'))
    expect(await hosts(PROJECT)).toEqual(['example.com'])
    pass(60 * 60 * 1000)
    expect(await hosts(PROJECT)).toEqual([])
    pass(-60 * 60 * 1000)
    expect(await grants.list()).toEqual([])
  })

  it('get another end when they are granted again', async () => {
    const { grants } = setUp()
    await grants.grant([parseHostRule('example.com')], PROJECT, new Date('2026-11-17T11:00:00Z'))
    await grants.grant([parseHostRule('EXAMPLE.com.')], PROJECT)
    expect(await grants.list()).toMatchObject([{ host: 'example.com', expires: null }])
  })

  it('can be revoked, in the scope in which they hold', async () => {
    const { grants, hosts } = setUp()
    await grants.grant([parseHostRule('example.com')], PROJECT)
    await expect(grants.revoke(parseHostRule('example.com'), FORK)).rejects.toThrow('not allowed there')
    await grants.revoke(parseHostRule('example.com'), PROJECT)
    expect(await hosts(PROJECT)).toEqual([])
  })
})
