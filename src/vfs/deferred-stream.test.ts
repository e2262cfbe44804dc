import { describe, expect, it } from 'vitest'
import { DeferredStream, startStream } from './deferred-stream.ts'
import { ReadyStream } from './ready-stream.ts'
import { abortable, createFailedStream } from './streams.ts'

/** A stream of numbers that records its steps. */
async function* count(upTo: number, log: string[]): AsyncGenerator<number> {
  log.push('opened')
  try {
    for (let number = 1; number <= upTo; number++) yield number
  } finally {
    log.push('closed')
  }
}

describe('a deferred stream', () => {
  it('opens its source at the first step, also for steps at once', async () => {
    const log: string[] = []
    const stream = new DeferredStream(async () => count(3, log))
    expect(log).toEqual([])
    const steps = await Promise.all([stream.next(), stream.next(), stream.next(), stream.next()])
    expect(steps.map(({ value }) => value)).toEqual([1, 2, 3, undefined])
    expect(log).toEqual(['opened', 'closed'])
  })

  it('releases the source when the reader leaves', async () => {
    const log: string[] = []
    for await (const number of new DeferredStream(async () => count(3, log))) if (number === 2) break
    expect(log).toEqual(['opened', 'closed'])
  })

  it('does not open the source if it is left before the first step', async () => {
    const log: string[] = []
    const stream = new DeferredStream(async () => count(3, log))
    await stream.return()
    expect(await stream.next()).toEqual({ done: true, value: undefined })
    expect(log).toEqual([])
  })

  it('fails once if its source cannot be opened', async () => {
    const stream = new DeferredStream(() => Promise.reject(new Error('not found')))
    await expect(stream.next()).rejects.toThrow('not found')
    expect(await stream.next()).toEqual({ done: true, value: undefined })
  })

  it('ends with the reason of an abort, and releases the source', async () => {
    const log: string[] = []
    const controller = new AbortController()
    const stream = abortable(new DeferredStream(async () => count(3, log)), controller.signal)
    const seen: number[] = []
    const reading = (async () => {
      for await (const number of stream) {
        seen.push(number)
        controller.abort(new Error('enough'))
      }
    })()
    await expect(reading).rejects.toThrow('enough')
    expect(seen).toEqual([1])
    expect(log).toEqual(['opened', 'closed'])
  })
})

describe('startStream', () => {
  it('loses no item', async () => {
    for (const length of [0, 1, 3]) {
      const numbers = Array.from({ length }, (_, at) => at + 1)
      expect(await Array.fromAsync(await startStream(count(length, [])))).toEqual(numbers)
    }
  })

  it('fails if the first step fails', async () => {
    await expect(startStream(createFailedStream(new Error('not found')))).rejects.toThrow('not found')
  })

  it('releases the source when the reader leaves', async () => {
    const log: string[] = []
    for await (const _ of await startStream(count(3, log))) break
    expect(log).toEqual(['opened', 'closed'])
  })
})

describe('a filtered stream', () => {
  it('has the kept items, whether they are in memory or have to be awaited', async () => {
    const items = Array.from({ length: 9 }, (_, number) => ({ number }))
    let at = 0
    const pull = () => {
      const item = items[at++]
      return item !== undefined && item.number % 3 === 0 ? Promise.resolve(item) : item
    }
    const kept = new ReadyStream(pull).filter(({ number }) => number % 3 !== 1)
    expect((await kept.rest()).map(({ number }) => number)).toEqual([0, 2, 3, 5, 6, 8])
  })
})
