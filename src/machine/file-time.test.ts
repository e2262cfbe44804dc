import { lstatSync, lutimesSync, mkdtempSync, rmSync, writeFileSync } from 'node:fs'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import fc from 'fast-check'
import { describe, expect, it, onTestFinished } from 'vitest'
import { toFileTime, toNanoseconds, toUtimesArgument } from './index.ts'

/** Node 22 cuts to microseconds what is a number with a fraction. */
const NEAR_NANOS = 2000

const moments = fc.bigInt({ min: -(10n ** 18n), max: 4n * 10n ** 18n })

describe('a time of a file', () => {
  it('is seconds and a rest that is never negative, also before 1970', () => {
    expect(toFileTime(-1n)).toEqual({ seconds: -1, nanos: 999_999_999 })
    expect(toFileTime(-1_500_000_000n)).toEqual({ seconds: -2, nanos: 500_000_000 })
    fc.assert(
      fc.property(moments, (moment) => {
        const time = toFileTime(moment)
        expect(time.nanos).toBeGreaterThanOrEqual(0)
        expect(time.nanos).toBeLessThan(1e9)
        expect(toNanoseconds(time)).toBe(moment)
      }),
    )
  })

  it('is what a file gets, also before 1970', () => {
    const directory = mkdtempSync(join(tmpdir(), 'file-time-'))
    onTestFinished(() => rmSync(directory, { recursive: true }))
    const file = join(directory, 'file')
    writeFileSync(file, '')
    fc.assert(
      fc.property(moments, (moment) => {
        const given = toUtimesArgument(toFileTime(moment))
        lutimesSync(file, given, given)
        const { mtimeNs } = lstatSync(file, { bigint: true })
        expect(Math.abs(Number(mtimeNs - moment))).toBeLessThan(NEAR_NANOS)
      }),
    )
  })
})
