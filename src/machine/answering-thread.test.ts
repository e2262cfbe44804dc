import { Worker } from 'node:worker_threads'
import { describe, expect, it } from 'vitest'
import { AnsweringThread } from './answering-thread.ts'

/** Doubles numbers; ends its thread at 0 and waits for ever at 13. */
const PROGRAM = `
  const { parentPort } = require('node:worker_threads')
  parentPort.on('message', (number) => {
    if (number === 0) process.exit()
    if (number !== 13) parentPort.postMessage(number * 2)
  })`

function createDoubler(idleMs?: number): { thread: AnsweringThread<number, number>; workers: Worker[] } {
  const workers: Worker[] = []
  const thread = new AnsweringThread<number, number>(() => {
    const worker = new Worker(PROGRAM, { eval: true })
    workers.push(worker)
    return worker
  }, idleMs)
  return { thread, workers }
}

async function waitForExit(worker: Worker | undefined): Promise<void> {
  await new Promise((resolve) => worker?.once('exit', resolve))
}

describe('AnsweringThread', () => {
  it('starts with the first request and answers all in their order', async () => {
    const { thread, workers } = createDoubler()
    expect(workers).toHaveLength(0)
    expect(await Promise.all([1, 2, 3].map((number) => thread.ask(number)))).toEqual([2, 4, 6])
    expect(workers).toHaveLength(1)
    thread.end()
  })

  it('rejects what waits when its thread ends, and starts another one', async () => {
    const { thread, workers } = createDoubler()
    const lost = await Promise.allSettled([thread.ask(1), thread.ask(0), thread.ask(2)])
    expect(lost.map(({ status }) => status)).toEqual(['fulfilled', 'rejected', 'rejected'])
    expect(await thread.ask(4)).toBe(8)
    expect(workers).toHaveLength(2)
    thread.end()
  })

  it('rejects what waits when it is ended', async () => {
    const { thread, workers } = createDoubler()
    const lost = thread.ask(13)
    const exit = waitForExit(workers[0])
    thread.end()
    await expect(lost).rejects.toThrow('the thread was ended')
    await exit
  })

  it('rejects if its thread cannot be started', async () => {
    const thread = new AnsweringThread(() => {
      throw new Error('no threads here')
    })
    await expect(thread.ask(1)).rejects.toThrow('no threads here')
  })

  it('ends its thread after a time without work', async () => {
    const { thread, workers } = createDoubler(1)
    expect(await thread.ask(1)).toBe(2)
    await waitForExit(workers[0])
    expect(await thread.ask(2)).toBe(4)
    thread.end()
  })
})
