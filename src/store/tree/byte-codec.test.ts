import fc from 'fast-check'
import { expect, it } from 'vitest'
import { ByteReader, ByteWriter } from './byte-codec.ts'

it('reads every integer that it writes', () => {
  const boundaries = [7, 14, 21, 28, 31, 32, 35, 52].flatMap((bits) => [
    2 ** bits - 1,
    2 ** bits,
    2 ** bits + 1,
  ])
  const integers = fc.oneof(
    fc.maxSafeNat(),
    fc.nat(),
    fc.constantFrom(...boundaries, Number.MAX_SAFE_INTEGER),
  )
  fc.assert(
    fc.property(fc.array(integers), (values) => {
      const writer = new ByteWriter()
      for (const value of values) writer.varint(value)
      const reader = new ByteReader(writer.takeBytes())
      expect(values.map(() => reader.varint())).toStrictEqual(values)
      expect(reader.isAtEnd).toBe(true)
    }),
  )
})

it('writes seven bits of an integer in each byte, the lowest first', () => {
  const writer = new ByteWriter()
  for (const value of [0, 0x7f, 0x80, 2 ** 31, 2 ** 53 - 1]) writer.varint(value)
  expect(Buffer.from(writer.takeBytes()).toString('hex')).toBe('007f80018080808008ffffffffffffff0f')
})
