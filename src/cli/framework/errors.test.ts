import { expect, it } from 'vitest'
import { VfsError } from '../../vfs/index.ts'
import { toErrorJson } from './errors.ts'

it('describes the first error if a disposal failed too, with its code and path', async () => {
  const run = async () => {
    await using _resource = { [Symbol.asyncDispose]: () => Promise.reject(new Error('cannot close')) }
    throw new VfsError('ENOENT', '/missing')
  }
  const thrown = await run().catch((error: unknown) => error)
  expect(toErrorJson(thrown)).toMatchObject({ error: { code: 'ENOENT', path: '/missing' } })
})
