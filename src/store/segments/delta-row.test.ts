import { crc32 } from 'node:zlib'
import fc from 'fast-check'
import { describe, expect, it } from 'vitest'
import {
  addPiece,
  type DeltaPiece,
  decodeDelta,
  encodeDelta,
  measureDelta,
  readDeltaBlob,
} from './delta-row.ts'

const SIZE = 60
const ID = 2 ** 52 + 7

const change = fc
  .record({ offset: fc.nat(SIZE - 1), length: fc.integer({ min: 1, max: 20 }), fill: fc.nat(255) })
  .map(({ offset, length, fill }) => ({
    offset,
    bytes: new Uint8Array(Math.min(length, SIZE - offset)).fill(fill),
  }))

const toBaseRef = (base: Uint8Array) => ({ blob: 3, size: base.length, crc: crc32(base) })

function addAll(changes: readonly DeltaPiece[]): DeltaPiece[] {
  return changes.reduce<DeltaPiece[]>((pieces, added) => addPiece(pieces, added), [])
}

describe('a delta', () => {
  it('makes the content that its changes make of the base, whatever their order', () => {
    fc.assert(
      fc.property(
        fc.uint8Array({ maxLength: SIZE }),
        fc.array(change, { maxLength: 12 }),
        (base, changes) => {
          const expected = new Uint8Array(SIZE)
          expected.set(base)
          for (const { offset, bytes } of changes) expected.set(bytes, offset)
          const delta = { base: toBaseRef(base), size: SIZE, pieces: addAll(changes) }
          const { row } = encodeDelta(ID, delta)
          expect(row.length).toBe(measureDelta(delta))
          const content = readDeltaBlob(
            ID,
            (id) => (id === ID ? row : undefined),
            (id) => (id === 3 ? base : undefined),
          )
          expect(content).toEqual(Buffer.from(expected))
        },
      ),
    )
  })

  it('has its pieces in order, and none touches another', () => {
    fc.assert(
      fc.property(fc.array(change, { maxLength: 12 }), (changes) => {
        const ends = addAll(changes).map(({ offset, bytes }) => [offset, offset + bytes.length] as const)
        for (const [index, [, end]] of ends.entries())
          expect(end).toBeLessThan(ends[index + 1]?.[0] ?? Number.POSITIVE_INFINITY)
      }),
    )
  })

  it('is missing if its row or its base is', () => {
    const { row } = encodeDelta(ID, { base: toBaseRef(new Uint8Array(1)), size: 1, pieces: [] })
    const nothing = () => undefined
    expect(readDeltaBlob(ID, nothing, () => new Uint8Array(1))).toBe(undefined)
    expect(readDeltaBlob(ID, () => row, nothing)).toBe(undefined)
  })

  it('is reported if any byte of its row or its base is damaged, or the row has another id', () => {
    const base = new Uint8Array(7)
    const pieces = [{ offset: 2, bytes: new Uint8Array(4) }]
    const { row } = encodeDelta(ID, { base: toBaseRef(base), size: 9, pieces })
    for (let index = 0; index < row.length; index++) {
      const damaged = row.map((byte, at) => (at === index ? byte ^ 1 : byte))
      expect(() => decodeDelta(ID, damaged)).toThrow(`the row of blob ${ID} is damaged`)
    }
    expect(() => decodeDelta(ID, row.subarray(0, 5))).toThrow('damaged')
    expect(() => decodeDelta(ID + 1, row)).toThrow('damaged')
    for (const damaged of [new Uint8Array(6), new Uint8Array(8), new Uint8Array(7).fill(1, 6)]) {
      const read = () =>
        readDeltaBlob(
          ID,
          () => row,
          () => damaged,
        )
      expect(read).toThrow(`blob 3, on which blob ${ID} is based, is damaged`)
    }
  })
})
