import { expect, it } from 'vitest'
import { toUnwritableHomeError } from './unwritable-home.ts'

function createSystemError(code: string, path: string): Error {
  return Object.assign(new Error(`${code}: cannot, open '${path}'`), { code, path, syscall: 'open' })
}

it('names the home in the error about one of its files', () => {
  const file = '/home/me/.coppice/running/proj-1.json.f12'
  expect(toUnwritableHomeError('/home/me/.coppice', createSystemError('EROFS', file))).toMatchObject({
    code: 'EROFS',
    path: '/home/me/.coppice',
    detail: expect.stringMatching(/^the home \/home\/me\/\.coppice cannot be written; /),
  })
  for (const code of ['EACCES', 'EPERM'])
    expect(toUnwritableHomeError('/home/me/.coppice', createSystemError(code, file))).toMatchObject({
      code: 'EACCES',
      detail:
        'the home /home/me/.coppice cannot be written: permission denied in /home/me/.coppice/running; make it writable, or name another home',
    })
})

it('leaves other errors as they are', () => {
  for (const error of [
    createSystemError('EACCES', '/home/me/project/file'),
    createSystemError('ENOSPC', '/home/me/.coppice/running/x'),
    new Error('a bug'),
  ])
    expect(toUnwritableHomeError('/home/me/.coppice', error)).toBe(error)
})
