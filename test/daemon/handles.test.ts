import { mkdtempSync, rmSync } from 'node:fs'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { describe, expect, it, onTestFinished } from 'vitest'
import { DaemonClient, DaemonFiles, ReconnectingClient } from '../../src/daemon/client/index.ts'
import { startDaemon } from '../../src/daemon/index.ts'
import { MountTable, readText } from '../../src/vfs/index.ts'

/** Time limit for slow machines. */
const patience = { timeout: 30_000 }

/** A home whose daemon can be started and stopped. */
class Scene {
  readonly home: string = mkdtempSync(join(tmpdir(), 'coppice-handles-'))
  readonly socket: string = join(this.home, 'd.sock')

  constructor() {
    onTestFinished(() => rmSync(this.home, { recursive: true, force: true }))
  }

  async daemon(): Promise<AsyncDisposable> {
    const commands = { env: { PATH: process.env['PATH'] ?? '' } }
    const given = { env: {}, person: 'tester', version: '1', idleMs: null }
    return startDaemon({ ...given, commands, home: this.home, socket: this.socket })
  }

  async client(): Promise<DaemonClient> {
    const client = await DaemonClient.connect(this.socket)
    onTestFinished(() => client.close())
    return client
  }

  /** The namespace of a program with the daemon's devices. */
  table(): MountTable {
    const standing = new ReconnectingClient(() => this.client())
    const files = (root: string) => new DaemonFiles(root, () => standing.get())
    return new MountTable({ '/dev': files('/dev'), '/proc': files('/proc') })
  }
}

const encoded = (request: object) => Buffer.from(JSON.stringify(request))
const sent = (request: object) => encoded(request).toString('base64')

describe('devices of a daemon, open for a client', () => {
  it('belong to it, and are closed with it', async () => {
    const scene = new Scene()
    await using _daemon = await scene.daemon()
    const [one, other] = [await scene.client(), await scene.client()]
    const handle = await one.call('open', { path: '/dev/tasks/task_create', write: true })
    await one.call('write_handle', { handle, base64: sent({ subject: 'mine' }) })
    await expect(other.call('read_handle', { handle, length: 9 })).rejects.toMatchObject({ code: 'EBADF' })
    await expect(other.call('close_handle', { handle })).rejects.toMatchObject({ code: 'EBADF' })
    const answer = await one.call('read_handle', { handle, length: 9 })
    expect(Buffer.from(answer, 'base64').toString()).toBe('{"id":"1"')
    await one.call('close_handle', { handle })
    await expect(one.call('read_handle', { handle, length: 9 })).rejects.toMatchObject({ code: 'EBADF' })
  })

  it('cancel their requests when closed, or when the client disconnects', async () => {
    const scene = new Scene()
    await using _daemon = await scene.daemon()
    const person = await scene.client()
    // While a client is attached, questions wait for an answer.
    const events = person.stream('attach', {})
    void events.next()
    const ask = async (client: DaemonClient) => {
      const handle = await client.call('open', { path: '/dev/tty', write: true })
      const base64 = sent({ questions: [{ question: 'Well?', options: ['yes', 'no'] }] })
      return { handle, asked: client.call('write_handle', { handle, base64 }) }
    }
    const [closing, leaving] = [await scene.client(), await scene.client()]
    await person.call('status', {})
    const { handle, asked } = await ask(closing)
    const other = await ask(leaving)
    await expect.poll(() => person.call('questions', {}), patience).toHaveLength(2)
    await closing.call('close_handle', { handle })
    leaving.close()
    await expect(asked).rejects.toThrow()
    await expect(other.asked).rejects.toMatchObject({ code: 'EUNAVAILABLE' })
    await expect.poll(() => person.call('questions', {}), patience).toEqual([])
  })

  it('are limited in number', async () => {
    const scene = new Scene()
    await using _daemon = await scene.daemon()
    const [one, other] = [await scene.client(), await scene.client()]
    for (let count = 0; count < 1000; count++) await one.call('open', { path: '/dev/null' })
    await expect(one.call('open', { path: '/dev/null' })).rejects.toMatchObject({ code: 'EUNAVAILABLE' })
    await other.call('open', { path: '/dev/null' })
  })
})

describe('devices of a daemon as a file system', () => {
  it('are listed, read and called, with errors that name the whole path', async () => {
    const scene = new Scene()
    await using _daemon = await scene.daemon()
    const table = scene.table()
    const names = await Array.fromAsync(table.readdir('/dev'), ({ name, type }) => `${name} ${type}`)
    expect(names).toEqual(expect.arrayContaining(['null other', 'tasks directory']))
    expect(await table.stat('/dev/null')).toMatchObject({ type: 'other', mtime: new Date(0) })
    expect(await readText(table, '/proc/mounts')).toContain('/dev')
    await table.write('/dev/tasks/task_create', encoded({ subject: 'first' }))
    expect(JSON.parse(await readText(table, '/dev/tasks/1'))).toMatchObject({ subject: 'first' })
    const random = await Array.fromAsync(table.read('/dev/random', { byteRange: [0, 100] }))
    expect(Buffer.concat(random)).toHaveLength(100)
    const part = await Array.fromAsync(table.read('/dev/tasks/1', { byteRange: [4, 4] }))
    expect(Buffer.concat(part).toString()).toBe('"id"')
    for (const [code, path] of [
      ['ENOENT', '/dev/nothing'],
      ['EISDIR', '/dev/tasks'],
    ] as const)
      await expect(readText(table, path)).rejects.toMatchObject({ code, path })
    await expect(table.write('/dev/new', '', { ifMatch: null })).rejects.toMatchObject({ code: 'ENOTSUP' })
  })

  it('are visible without a daemon, and reconnect to the next one', async () => {
    const scene = new Scene()
    const table = scene.table()
    expect(await table.stat('/dev')).toMatchObject({ type: 'directory' })
    await expect(table.stat('/dev/null')).rejects.toMatchObject({ code: 'EUNAVAILABLE' })
    for (const _ of ['first', 'second']) {
      await using _daemon = await scene.daemon()
      await expect.poll(() => table.exists('/dev/null'), patience).toBe(true)
    }
    await expect(table.stat('/dev/null')).rejects.toMatchObject({ code: 'EUNAVAILABLE' })
  })

  it('answers any number of requests on one open file', async () => {
    const scene = new Scene()
    await using _daemon = await scene.daemon()
    await using handle = await scene.table().open('/dev/tasks/task_create', { write: true })
    for (const subject of ['one', 'two']) {
      await handle.write(0, encoded({ subject }))
      const answer = Buffer.from(await handle.read(0, 1000)).toString()
      expect(JSON.parse(answer)).toMatchObject({ subject })
      expect(await handle.read(0, 1000)).toHaveLength(0)
    }
    const long = Buffer.alloc(5 * 1024 * 1024)
    await expect(handle.write(0, long)).rejects.toMatchObject({ code: 'EFBIG' })
    await expect(handle.truncate(0)).rejects.toMatchObject({ code: 'EINVAL' })
  })
})
