import { describe, expect, it } from 'vitest'
import { memoizeAsync, runProbe } from './probe.ts'

describe('a probe', () => {
  it('returns the reason of a failure', async () => {
    const argv = ['sh', '-c', 'echo "unshare: Operation not permitted" >&2; exit 1']
    expect(await runProbe(argv)).toEqual({ works: false, reason: 'unshare: Operation not permitted' })
    expect(await runProbe(['echo', 'yes'])).toEqual({ works: true, output: 'yes\n' })
  })

  it('rejects if the machine is out of resources, instead of reporting no support', async () => {
    const message = 'unshare: fork failed: Resource temporarily unavailable'
    const failing = runProbe(['sh', '-c', `echo "${message}" >&2; exit 1`])
    await expect(failing).rejects.toMatchObject({
      code: 'EUNAVAILABLE',
      detail: expect.stringContaining(message),
    })
  })

  it('runs once, and again after an inconclusive result', async () => {
    const answers = [Promise.reject(new Error('busy')), Promise.resolve(1), Promise.resolve(2)]
    const find = memoizeAsync(() => answers.shift() ?? Promise.resolve(0))
    await expect(find()).rejects.toThrow('busy')
    expect([await find(), await find()]).toEqual([1, 1])
  })
})
