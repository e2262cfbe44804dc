import { describe, expect, it } from 'vitest'
import { computeMaskedCrc32c } from '../crc32c.ts'
import { readLevelLog } from './level-log.ts'

const [FULL, FIRST, LAST] = [1, 2, 4]

/** Writes one part of a record as LevelDB does. */
function writePart(type: number, content: string): Buffer {
  const part = Buffer.alloc(7 + content.length)
  part.writeUInt16LE(content.length, 4)
  part[6] = type
  part.write(content, 7)
  part.writeUInt32LE(computeMaskedCrc32c(part.subarray(6)), 0)
  return part
}

const log = (...parts: Buffer[]) => Buffer.concat(parts)
const textsIn = (bytes: Buffer) => readLevelLog(bytes).records.map(String)

describe('a log of LevelDB', () => {
  it('has its records, and no damage if the last one is incomplete', () => {
    const bytes = log(writePart(FULL, 'a'), writePart(FIRST, 'b'), writePart(LAST, 'c'), writePart(FULL, 'd'))
    expect(textsIn(bytes)).toEqual(['a', 'bc', 'd'])
    for (let length = 0; length < bytes.length; length++)
      expect(readLevelLog(bytes.subarray(0, length)).damagedAt).toEqual([])
  })

  it('is damaged by a flipped bit before its last record, and has the records that follow', () => {
    const [header, length] = [7, 1]
    for (let at = 0; at < 2 * (header + length); at++) {
      const bytes = log(...['a', 'b', 'c'].map((text) => writePart(FULL, text)))
      bytes.writeUInt8(bytes.readUInt8(at) ^ 1, at)
      const record = Math.floor(at / (header + length))
      // With a wrong length, nothing says where the next record begins.
      const isLength = [4, 5].includes(at % (header + length))
      if (isLength) continue
      expect(textsIn(bytes), `byte ${at}`).toEqual(record === 0 ? ['b', 'c'] : ['a', 'c'])
      expect(readLevelLog(bytes).damagedAt).toEqual([record * (header + length)])
    }
  })

  it('is damaged if a record without its end is followed by another', () => {
    const { records, damagedAt } = readLevelLog(log(writePart(FIRST, 'half'), writePart(FULL, 'whole')))
    expect([records.map(String), damagedAt]).toEqual([['whole'], [0]])
  })
})
