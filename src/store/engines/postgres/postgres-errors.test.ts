import { describe, expect, it } from 'vitest'
import { getRejectionState, isRolledBack, isUnreachable, toPostgresError } from './postgres-errors.ts'

const systemError = (code: string) => Object.assign(new Error(`write ${code}`), { code })
const serverError = (code: string, severity = 'ERROR') => Object.assign(new Error(code), { code, severity })

describe('an error of PostgreSQL', () => {
  it('of the connection is unreachable, also where its code has five letters like a state', () => {
    for (const code of ['EPIPE', 'EPERM', 'ECONNRESET', 'ENOTFOUND']) {
      expect(isUnreachable(systemError(code)), code).toBe(true)
      expect(toPostgresError('commit', 'db', systemError(code)).code, code).toBe('EUNAVAILABLE')
      expect(getRejectionState(systemError(code)), code).toBeUndefined()
    }
  })

  it('of the server has a code that the caller can act on, or EIO', () => {
    const codes = {
      '28P01': 'EACCES',
      '3D000': 'ENOENT',
      '53100': 'ENOSPC',
      '53300': 'EUNAVAILABLE',
      '42601': 'EIO',
    }
    for (const [state, code] of Object.entries(codes))
      expect(toPostgresError('open', 'db', serverError(state, 'FATAL')).code, state).toBe(code)
  })

  it('says that a statement was not done only if the server rejected it', () => {
    expect(isRolledBack(serverError('40001'))).toBe(true)
    expect(isRolledBack(serverError('40001', 'FATAL'))).toBe(false)
    expect(getRejectionState(serverError('23505'))).toBe('23505')
    expect(getRejectionState(serverError('57P01', 'FATAL'))).toBeUndefined()
  })
})
