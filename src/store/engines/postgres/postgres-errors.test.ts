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

  it('says what to do about a login, a certificate and a right that is missing', () => {
    const describe = (cause: Error) => toPostgresError('open', 'db', cause).message
    const tls = Object.assign(
      new Error('self-signed certificate; if the root CA is local, run Node.js with X'),
      {
        code: 'DEPTH_ZERO_SELF_SIGNED_CERT',
      },
    )
    expect(describe(tls)).toMatch(/failed: self-signed certificate; name .* sslrootcert=FILE/)
    const noPassword = new Error('SASL: SCRAM-SERVER-FIRST-MESSAGE: client password must be a string')
    expect(describe(noPassword)).toContain('failed: it wants a password; set PGPASSWORD')
    expect(toPostgresError('open', 'db', noPassword).code).toBe('EACCES')
    expect(describe(new Error('The server does not support SSL connections'))).toContain('sslmode=disable')
    expect(describe(serverError('28P01', 'FATAL'))).toContain('PGPASSWORD')
    expect(describe(serverError('3D000', 'FATAL'))).toContain('createdb')
    expect(describe(serverError('42501'))).toContain('under Roles')
    expect(describe(systemError('ECONNREFUSED'))).toContain('check that it runs')
  })

  it('says that a statement was not done only if the server rejected it', () => {
    expect(isRolledBack(serverError('40001'))).toBe(true)
    expect(isRolledBack(serverError('40001', 'FATAL'))).toBe(false)
    expect(getRejectionState(serverError('23505'))).toBe('23505')
    expect(getRejectionState(serverError('57P01', 'FATAL'))).toBeUndefined()
  })
})
