import { describe, expect, it } from 'vitest'
import { ReadyStream } from './ready-stream.ts'

const numbered = (count: number) => Array.from({ length: count }, (_, index) => ({ number: index + 1 }))
const numbersOf = (items: readonly { readonly number: number }[]) => items.map(({ number }) => number)

describe('a stream of items in memory', () => {
  it('yields them one by one', async () => {
    expect(numbersOf(await Array.fromAsync(ReadyStream.of(numbered(3))))).toEqual([1, 2, 3])
    expect(await Array.fromAsync(ReadyStream.of([]))).toEqual([])
  })

  it('returns the rest together, once', async () => {
    const whole = ReadyStream.of(numbered(3))
    expect(numbersOf(await whole.rest())).toEqual([1, 2, 3])
    expect(await whole.rest()).toEqual([])
    expect(await whole.next()).toEqual({ done: true, value: undefined })
    const begun = ReadyStream.of(numbered(3))
    await begun.next()
    expect(numbersOf(await begun.rest())).toEqual([2, 3])
    expect(await begun.next()).toEqual({ done: true, value: undefined })
  })

  it('has no rest once its reader left', async () => {
    const stream = ReadyStream.of(numbered(3))
    for await (const { number } of stream) if (number === 2) break
    expect(await stream.rest()).toEqual([])
  })

  it('maps, filters and ends with a signal as any other', async () => {
    const isOdd = ({ number }: { number: number }) => number % 2 === 1
    const double = ({ number }: { number: number }) => ({ number: number * 2 })
    expect(numbersOf(await ReadyStream.of(numbered(5)).filter(isOdd).map(double).rest())).toEqual([2, 6, 10])
    const stream = ReadyStream.of(numbered(3)).until(AbortSignal.abort(new Error('stopped')))
    await expect(stream.rest()).rejects.toThrow('stopped')
  })
})
