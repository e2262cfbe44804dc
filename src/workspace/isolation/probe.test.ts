import { describe, expect, it } from 'vitest'
import { memoizeAsync, runProbe } from './probe.ts'

describe('a trial', () => {
  it('says why something does not work here', async () => {
    const argv = ['sh', '-c', 'echo "unshare: Operation not permitted" >&2; exit 1']
    expect(await runProbe(argv)).toEqual({ works: false, reason: 'unshare: Operation not permitted' })
    expect(await runProbe(['echo', 'yes'])).toEqual({ works: true, said: 'yes\n' })
  })

  it('takes no machine that has nothing to give at the moment for one that cannot', async () => {
    const said = 'unshare: fork failed: Resource temporarily unavailable'
    const failing = runProbe(['sh', '-c', `echo "${said}" >&2; exit 1`])
    await expect(failing).rejects.toMatchObject({
      code: 'EUNAVAILABLE',
      detail: expect.stringContaining(said),
    })
  })

  it('is made once, and again if it could not be told', async () => {
    const answers = [Promise.reject(new Error('busy')), Promise.resolve(1), Promise.resolve(2)]
    const find = memoizeAsync(() => answers.shift() ?? Promise.resolve(0))
    await expect(find()).rejects.toThrow('busy')
    expect([await find(), await find()]).toEqual([1, 1])
  })
})
