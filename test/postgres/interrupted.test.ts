import type { ChildProcessWithoutNullStreams } from 'node:child_process'
import { once } from 'node:events'
import { mkdtempSync, rmSync } from 'node:fs'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { pipeline } from 'node:stream/promises'
import { afterAll, beforeAll, describe, expect, it } from 'vitest'
import { FaultProxy } from '../support/fault-proxy.ts'
import { largeContent } from '../support/large-content.ts'
import { hasPostgres, PostgresServer } from '../support/postgres-server.ts'
import { S3Proxy } from '../support/s3-proxy.ts'
import { S3Server } from '../support/s3-server.ts'
import { Machine } from './machine.ts'

const CREDENTIALS = { AWS_ACCESS_KEY_ID: 'S3RVER', AWS_SECRET_ACCESS_KEY: 'S3RVER' }
const SIZE = 2 * 1024 * 1024
const scratch = mkdtempSync(join(tmpdir(), 'coppice-interrupted-'))
let database: PostgresServer
let homes = 0

beforeAll(async () => {
  if (hasPostgres) database = await PostgresServer.start()
})
afterAll(async () => {
  await database?.[Symbol.asyncDispose]()
  rmSync(scratch, { recursive: true, force: true })
})

/** Sends Ctrl-C to a command once a server has left it without an answer, and returns its exit code. */
async function interrupt(
  command: ChildProcessWithoutNullStreams,
  isSilent: Promise<void>,
): Promise<number | null> {
  await isSilent
  command.kill('SIGINT')
  const [code] = await once(command, 'exit')
  return code
}

describe.runIf(hasPostgres)('Ctrl-C while a server of a shared home is silent', () => {
  it.each([['cat', '/large', '--vault', 'base'], ['write', '/other', '--vault', 'base'], ['fsck'], ['gc']])(
    'ends %s that waits for S3, and loses nothing',
    async (...args) => {
      await using s3 = await S3Server.s3rver()
      await using proxy = new S3Proxy(s3.endpoint)
      const [endpoint, bucket] = [await proxy.start(), await s3.bucket(s3.client())]
      const url = database.url(`silent_${++homes}`)
      const [ann, bob] = [
        new Machine(scratch, `ann-${homes}`, url, CREDENTIALS),
        new Machine(scratch, `bob-${homes}`, url, CREDENTIALS),
      ]
      const write = async (path: string) => {
        const writing = ann.start('write', path, '--vault', 'base')
        await pipeline([largeContent(path, SIZE)], writing.stdin)
        return once(writing, 'exit')
      }
      const creating = ann.start('home', 'create', url, '--objects', `s3://${bucket}?endpoint=${endpoint}`)
      expect(await once(creating, 'exit')).toEqual([0, null])
      ann.get('vault', 'create', 'base')
      expect(await write('/large')).toEqual([0, null])

      const { promise: isSilent, resolve } = Promise.withResolvers<void>()
      proxy.meddle = () => {
        resolve()
        return true
      }
      const command = bob.start(...args)
      command.stdin.end(largeContent('other', SIZE))
      command.stdin.on('error', () => {})
      expect(await interrupt(command, isSilent)).toBe(130)
      proxy.meddle = () => false
      const checking = bob.start('fsck')
      expect(await once(checking, 'exit')).toEqual([0, null])
      expect(bob.get('ls', '/', '--vault', 'base')).toBe('large\n')
    },
  )

  it.each([
    ['its first statement', 1, ['ls', '/']],
    ['a later statement', 6, ['fsck']],
    ['a change', 9, ['write', '/other', '--text', 'x']],
  ] as const)('ends a command at %s', async (_, silentFrom, args) => {
    await using proxy = await FaultProxy.start(database.directory)
    const url = database.url(`silent_${++homes}`)
    const ann = new Machine(scratch, `ann-${homes}`, url)
    const far = url.replace(encodeURIComponent(database.directory), encodeURIComponent(proxy.directory))
    const bob = new Machine(scratch, `bob-${homes}`, far)
    ann.get('vault', 'create', 'base')
    ann.get('write', '/plan.md', '--text', 'one')
    const { promise: isSilent, resolve } = Promise.withResolvers<void>()
    let statements = 0
    proxy.next = () => {
      if (++statements < silentFrom) return undefined
      resolve()
      return 'silent'
    }
    expect(await interrupt(bob.start(...args), isSilent)).toBe(130)
    expect(ann.get('fsck')).toContain('no damage')
    expect(ann.get('cat', '/plan.md')).toBe('one\n')
  })
})
