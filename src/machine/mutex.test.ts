import { expect, it } from 'vitest'
import { Mutex } from './mutex.ts'

it('runs work in the order of the calls, one at a time', async () => {
  const mutex = new Mutex()
  const log: string[] = []
  const first = Promise.withResolvers<void>()
  const record = (name: string, until?: Promise<void>) =>
    mutex.run(async () => {
      log.push(`${name} starts`)
      await until
      log.push(`${name} ends`)
      return name
    })
  const results = [record('first', first.promise), record('second')]
  first.resolve()
  expect(await Promise.all(results)).toEqual(['first', 'second'])
  expect(log).toEqual(['first starts', 'first ends', 'second starts', 'second ends'])
})

it('runs the next work after a failure, which rejects only its own call', async () => {
  const mutex = new Mutex()
  const failed = mutex.run(() => Promise.reject(new Error('no')))
  const next = mutex.run(async () => 'done')
  await expect(failed).rejects.toThrow('no')
  expect(await next).toBe('done')
})
