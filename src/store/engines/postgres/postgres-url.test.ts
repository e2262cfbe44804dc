import { describe, expect, it } from 'vitest'
import { hasUrlPassword, hideUrlPassword, isPostgresUrl, parsePostgresUrl } from './postgres-url.ts'

describe('the URL of a home in PostgreSQL', () => {
  it('names server, role, database and schema', () => {
    expect(parsePostgresUrl('postgres://ann:s%40fe@db.example:6432/work?schema=team_a')).toEqual({
      host: 'db.example',
      port: 6432,
      user: 'ann',
      password: 's@fe',
      database: 'work',
      schema: 'team_a',
      ssl: { rejectUnauthorized: true },
      label: 'postgres://ann@db.example:6432/work?schema=team_a',
    })
  })

  it.each([
    ['postgres://ann@/work?host=/run/postgresql', '/run/postgresql'],
    ['postgresql:///work?host=%2Frun%2Fpostgresql', '/run/postgresql'],
    ['postgres://%2Frun%2Fpostgresql/work', '/run/postgresql'],
    ['postgres://ann@127.0.0.1/work', '127.0.0.1'],
    ['postgres://ann@localhost/work', 'localhost'],
    ['postgres://ann@[::1]/work', '::1'],
    ['postgres://ann@/work', undefined],
    ['postgres:///work', undefined],
  ])('%s is on this machine and needs no TLS', (url, host) => {
    expect(parsePostgresUrl(url)).toMatchObject({ host, database: 'work', schema: 'coppice', ssl: false })
  })

  it('uses TLS with any other host, and verifies the certificate unless it says otherwise', () => {
    const ssl = (url: string) => parsePostgresUrl(url).ssl
    expect(ssl('postgres://10.0.0.7/work')).toEqual({ rejectUnauthorized: true })
    expect(ssl('postgres://localhost.example.com/work')).toEqual({ rejectUnauthorized: true })
    expect(ssl('postgres://db/work?sslmode=require')).toEqual({ rejectUnauthorized: false })
    expect(ssl('postgres://db/work?sslmode=disable')).toBe(false)
    expect(ssl('postgres://localhost/work?sslmode=verify-full')).toEqual({ rejectUnauthorized: true })
  })

  it.each([
    ['postgres://ann:geheim@db/work?shema=x', "'shema' is unknown"],
    ['postgres://ann:geheim@db/work?schema=Drop%20Table', "the schema 'Drop Table'"],
    ['postgres://ann:geheim@db/work?sslmode=prefer', "sslmode 'prefer' is unknown"],
    ['postgres://ann:geheim@db/work?sslmode=require&sslrootcert=/no/such', '/no/such'],
    ['postgres://ann:geheim@db:port/work', 'it is no URL'],
    ['postgres://ann:geheim@db/work?port=five', "the port 'five'"],
    ['postgres://ann:geheim@db/100%work', 'write %25'],
    ['postgres://ann@db/work?password=geheim', "'password' is unknown"],
  ])('%s is refused without its password', (url, problem) => {
    expect(() => parsePostgresUrl(url)).toThrow(problem)
    expect(() => parsePostgresUrl(url)).not.toThrow(/geheim/)
  })

  it('can be shown without its password', () => {
    expect(hasUrlPassword('postgres://ann:geheim@db/work')).toBe(true)
    expect(hasUrlPassword('postgres://ann@db/work')).toBe(false)
    expect(hideUrlPassword('postgres://ann:geheim@/work?host=/tmp')).toBe('postgres://ann@/work?host=/tmp')
    expect(hideUrlPassword('/home/ann/.coppice')).toBe('/home/ann/.coppice')
    expect(['postgres://a', 'POSTGRESQL://a', 'mysql://a', '/postgres'].map(isPostgresUrl)).toEqual([
      true,
      true,
      false,
      false,
    ])
  })
})
