import fc from 'fast-check'
import { describe, expect, it } from 'vitest'
import { isPublicAddress } from './public-address.ts'

describe('isPublicAddress', () => {
  it.each(['8.8.8.8', '1.1.1.1', '93.184.215.14', '2606:4700::1111', '2001:4860:4860::8888', '172.32.0.1'])(
    'accepts %s',
    (address) => expect(isPublicAddress(address)).toBe(true),
  )

  it.each([
    '127.0.0.1',
    '127.255.0.9',
    '0.0.0.0',
    '10.1.2.3',
    '172.16.0.1',
    '172.31.255.255',
    '192.168.1.1',
    '100.64.0.1',
    '100.127.255.255',
    '100.100.100.200',
    '169.254.169.254',
    '168.63.129.16',
    '192.0.0.192',
    '198.19.0.1',
    '224.0.0.1',
    '255.255.255.255',
    '::',
    '::1',
    '::ffff:127.0.0.1',
    '::ffff:8.8.8.8',
    '::7f00:1',
    '64:ff9b::7f00:1',
    '64:ff9b:1::a00:1',
    '2002:7f00:1::',
    '2001:0:53aa:64c::1',
    'fc00::1',
    'fd00:ec2::254',
    'fe80::1',
    'fec0::1',
    'ff02::1',
    '2001:db8::1',
    'example.com',
    '',
  ])('refuses %s', (address) => expect(isPublicAddress(address)).toBe(false))

  it('refuses an IPv4 address in any IPv6 form', () => {
    const byte = fc.integer({ min: 0, max: 255 })
    fc.assert(
      fc.property(fc.tuple(byte, byte, byte, byte), ([a, b, c, d]) => {
        const dotted = `${a}.${b}.${c}.${d}`
        const hex = (one: number, other: number) => (one * 256 + other).toString(16)
        const wrapped = [
          `::${dotted}`,
          `::ffff:${dotted}`,
          `::ffff:0:${dotted}`,
          `64:ff9b::${dotted}`,
          `2002:${hex(a, b)}:${hex(c, d)}::1`,
        ]
        expect(wrapped.filter(isPublicAddress)).toEqual([])
      }),
    )
  })
})
