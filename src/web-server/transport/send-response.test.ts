import { expect, it } from 'vitest'
import { VfsError } from '../../vfs/index.ts'
import { toErrorResponse } from './send-response.ts'

class SettingError extends Error {
  override readonly name = 'SettingError'
}

it('describes errors for people, and hides those of its own code', () => {
  expect(toErrorResponse(new VfsError('ENOENT', '/a'))).toMatchObject({
    status: 404,
    body: { error: { code: 'ENOENT', path: '/a' } },
  })
  expect(toErrorResponse(new SettingError('there is no such key'))).toMatchObject({
    status: 400,
    body: { error: { message: 'there is no such key' } },
  })
  for (const error of [new Error('inner state'), new TypeError('inner state')]) {
    const { status, body } = toErrorResponse(error)
    expect([status, body.error.code]).toEqual([500, 'EINTERNAL'])
    expect(body.error.message).not.toContain('inner state')
  }
})
