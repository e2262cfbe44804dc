import { spawnSync } from 'node:child_process'
import { once } from 'node:events'
import { mkdtempSync, readFileSync, rmSync, writeFileSync } from 'node:fs'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { text } from 'node:stream/consumers'
import { pipeline } from 'node:stream/promises'
import { ListObjectsV2Command } from '@aws-sdk/client-s3'
import { afterAll, beforeAll, describe, expect, it } from 'vitest'
import { largeContent } from '../support/large-content.ts'
import { hasPostgres, PostgresServer } from '../support/postgres-server.ts'
import { S3Proxy } from '../support/s3-proxy.ts'
import { S3Server } from '../support/s3-server.ts'
import { Machine } from './machine.ts'

const SIZE = 9 * 1024 * 1024 + 123
const CREDENTIALS = { AWS_ACCESS_KEY_ID: 'S3RVER', AWS_SECRET_ACCESS_KEY: 'S3RVER' }
const scratch = mkdtempSync(join(tmpdir(), 'coppice-objects-'))
let database: PostgresServer
let s3: S3Server
let homes = 0

beforeAll(async () => {
  if (!hasPostgres) return
  database = await PostgresServer.start()
  s3 = await S3Server.s3rver()
})
afterAll(async () => {
  await database?.[Symbol.asyncDispose]()
  await s3?.[Symbol.asyncDispose]()
  rmSync(scratch, { recursive: true, force: true })
})

/** The machine of a user that has the keys of the bucket. */
function newMachine(name: string, home: string): Machine {
  return new Machine(scratch, name, home, CREDENTIALS)
}

/** Creates a shared home with a bucket of its own, as its first user does. */
async function createSharedHome(): Promise<{ url: string; countObjects(): Promise<number> }> {
  const url = database.url(`objects_cli_${++homes}`)
  const client = s3.client()
  const bucket = await s3.bucket(client)
  const ann = newMachine('ann', url)
  ann.get('home', 'create', url, '--objects', `s3://${bucket}/team?endpoint=${s3.endpoint}`)
  return {
    url,
    countObjects: async () => (await client.send(new ListObjectsV2Command({ Bucket: bucket }))).KeyCount ?? 0,
  }
}

/** Creates a shared home whose requests to S3 a test interrupts. Its commands run while this process answers. */
async function createInterruptedHome() {
  const proxy = new S3Proxy(s3.endpoint)
  const home = database.url(`objects_cli_${++homes}`)
  const machine = newMachine(`ann-${homes}`, home)
  const bucket = await s3.bucket(s3.client())
  const endpoint = await proxy.start()
  const run = async (...args: string[]) => {
    const command = machine.start(...args)
    const [stdout, stderr] = [text(command.stdout), text(command.stderr)]
    const [code] = await once(command, 'exit')
    return { code, stdout: await stdout, stderr: await stderr }
  }
  await run('home', 'create', home, '--objects', `s3://${bucket}/team?endpoint=${endpoint}`)
  return { home, ann: machine, proxy, run }
}

async function writeLarge(machine: Machine, path: string, content: Buffer): Promise<void> {
  const writing = machine.start('write', path, '--vault', 'base')
  await pipeline([content], writing.stdin)
  const [code] = await once(writing, 'exit')
  expect(code).toBe(0)
}

function expectLarge(machine: Machine, path: string, content: Buffer, ...options: string[]): void {
  const copy = join(machine.cwd, 'copy')
  machine.get('export', copy, '--vault', 'base', ...options)
  expect(readFileSync(join(copy, path)).equals(content)).toBe(true)
  rmSync(copy, { recursive: true })
}

describe.runIf(hasPostgres)('the command line on a shared home with large content in S3', () => {
  it('lets another machine read and run commands on it, without naming the bucket', async () => {
    const { url, countObjects } = await createSharedHome()
    const [ann, bob] = [newMachine('ann', url), newMachine('bob', url)]
    const content = largeContent('model', SIZE)
    ann.get('vault', 'create', 'base')
    await writeLarge(ann, '/model.bin', content)
    expect(await countObjects()).toBe(2)
    expectLarge(bob, 'model.bin', content)
    const script = 'cksum < model.bin && cat model.bin model.bin > twice.bin'
    const sum = spawnSync('cksum', { input: content, encoding: 'utf8' }).stdout
    const command = ['--vault', 'base', '--fork', 'task', '--', 'sh', '-c', script]
    expect(bob.run('exec', ...command)).toMatchObject({ status: 0, stdout: expect.stringContaining(sum) })
    bob.get('merge', 'task', 'base')
    expectLarge(ann, 'twice.bin', Buffer.concat([content, content]))
    expect(ann.get('fsck')).toContain('no damage')
  })

  it('moves it to a home of one machine and back, and to a new shared home', async () => {
    const { url, countObjects } = await createSharedHome()
    const local = join(scratch, 'local-home')
    const [ann, bob] = [newMachine('ann', url), newMachine('bob', local)]
    const [model, weights] = [largeContent('model', SIZE), largeContent('weights', SIZE)]
    ann.get('vault', 'create', 'base')
    await writeLarge(ann, '/model.bin', model)
    bob.get('pull', 'base', url)
    expectLarge(bob, 'model.bin', model)
    await writeLarge(bob, '/weights.bin', weights)
    bob.get('push', 'base', url)
    expectLarge(ann, 'weights.bin', weights)
    expect(await countObjects()).toBe(4)

    const other = await createSharedHome()
    bob.get('home', 'migrate', other.url)
    expectLarge(bob, 'model.bin', model, '--home', other.url)
    expectLarge(bob, 'weights.bin', weights, '--home', other.url)
    // It fills objects, whatever the files.
    expect(await other.countObjects()).toBe(3)
    expect(bob.get('fsck', '--home', other.url)).toContain('no damage')
  })

  it('loses nothing while one machine collects and another uploads', async () => {
    const { url, countObjects } = await createSharedHome()
    const [ann, bob] = [newMachine('ann', url), newMachine('bob', url)]
    ann.get('vault', 'create', 'base')
    for (let round = 0; round < 2; round++) {
      const content = largeContent(`round ${round}`, SIZE)
      const collecting = bob.start('gc', '--keep-history', '0d')
      await writeLarge(ann, '/current.bin', content)
      if (collecting.exitCode === null) await once(collecting, 'exit')
      expect(collecting.exitCode).toBe(0)
      expectLarge(bob, 'current.bin', content)
    }
    ann.get('gc', '--keep-history', '0d')
    expectLarge(bob, 'current.bin', largeContent('round 1', SIZE))
    expect(await countObjects()).toBe(2)
    expect(bob.get('fsck')).toContain('no damage')
  })

  it('moves content of any size to the bucket with a collection', async () => {
    const { url, countObjects } = await createSharedHome()
    const [ann, bob] = [newMachine('ann', url), newMachine('bob', url)]
    const project = mkdtempSync(join(scratch, 'project-'))
    const contents = Array.from({ length: 40 }, (_, index) => largeContent(`file ${index}`, 50_000))
    for (const [index, content] of contents.entries()) writeFileSync(join(project, `f${index}`), content)
    ann.get('import', project, '--vault', 'base')
    expect(bob.get('gc')).not.toContain('moved')
    expect(bob.get('gc', '--pack-after', '0h')).toContain('; moved 80 blobs of 1.9 MiB to S3')
    expect(await countObjects()).toBe(1)
    expectLarge(ann, 'f7', contents[7] ?? Buffer.alloc(0))
    expect(bob.get('fsck')).toContain('no damage')
  })

  it('recovers a fork that S3 did not take under its name, unless another machine changed it', async () => {
    const { home, proxy, run } = await createInterruptedHome()
    await using _proxy = proxy
    await run('vault', 'create', 'base')
    const command = 'head -c 3000000 /dev/urandom > large'
    for (const fork of ['job', 'busy']) {
      proxy.meddle = (asked, answer) => {
        if (asked.method === 'GET') return false
        answer.destroy()
        return true
      }
      const failed = await run('exec', '--vault', 'base', '--fork', fork, '-c', '--', command)
      expect(failed.stderr).toContain('a later coppice command tries again')
      proxy.meddle = () => false
      // The first command of the other fork is one of another machine, which recovers nothing here.
      if (fork === 'busy') newMachine('bob', home).get('write', '/theirs', '--text', 'b', '--vault', fork)
      const kept = fork === 'busy' ? 'busy-1' : fork
      expect((await run('vault', 'list')).stderr).toBe(
        `coppice: a command of ${kept} was killed; the fork has its changes now\n`,
      )
      expect((await run('ls', '/', '--vault', kept)).stdout).toBe('large\n')
    }
    const names = JSON.parse((await run('vault', 'list', '--json')).stdout)
    expect(names.map(({ name }: { name: string }) => name)).toEqual(['base', 'busy', 'busy-1', 'job'])
  })

  it('fails a search while S3 does not respond, and finds the same afterwards', async () => {
    const { ann, proxy, run } = await createInterruptedHome()
    await using _proxy = proxy
    await run('vault', 'create', 'base')
    await writeLarge(ann, '/large.txt', Buffer.from(`one ${'word '.repeat(500_000)}\nlast TODO\n`))
    proxy.meddle = (_asked, answer) => {
      answer.destroy()
      return true
    }
    for (const search of ['grep', 'search']) {
      const failed = await run(search, 'TODO', '--vault', 'base')
      expect(failed).toMatchObject({ code: 2, stdout: '' })
      expect(failed.stderr).toMatch(/^coppice: .*S3 request to bucket .* failed.*\n$/)
    }
    proxy.meddle = () => false
    expect(await run('grep', '-l', 'TODO', '--vault', 'base')).toMatchObject({
      code: 0,
      stdout: '/large.txt\n',
    })
  })

  it('names the bucket and the remedy to a machine without keys', async () => {
    const { url } = await createSharedHome()
    newMachine('ann', url).get('vault', 'create', 'base')
    await writeLarge(newMachine('ann', url), '/model.bin', largeContent('model', SIZE))
    const carl = new Machine(scratch, 'carl', url, { AWS_EC2_METADATA_DISABLED: 'true' })
    expect(carl.run('cat', '/model.bin', '--vault', 'base')).toMatchObject({
      status: 1,
      stdout: '',
      stderr: expect.stringMatching(/^coppice: s3:\/\/.*check the credentials/),
    })
  })
})
