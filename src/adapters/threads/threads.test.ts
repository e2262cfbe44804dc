import { once } from 'node:events'
import { type MessagePort, Worker } from 'node:worker_threads'
import fc from 'fast-check'
import { afterEach, describe, expect, it } from 'vitest'
import {
  type Capability,
  type FileHandle,
  isVfsError,
  MemoryFs,
  OverlayFs,
  readFile,
  type SyncFileSystem,
} from '../../vfs/index.ts'
import { BlockingChannel } from './blocking-channel.ts'
import { type ConnectedFileSystem, connectFileSystem, shareFileSystem, type ThreadChannel } from './index.ts'
import { RemoteHandle } from './remote-handle.ts'
import type { RemoteCallName, ThreadRequest, ThreadResponse } from './thread-channel.ts'

const url = (path: string) => JSON.stringify(new URL(path, import.meta.url).href)

/** A thread that shares a file system; some paths do what makes trouble. */
const SHARING = `
import(${url('../../vfs/index.ts')}).then(async ({ MemoryFs, OverlayFs }) => {
  const { shareFileSystem } = await import(${url('./index.ts')})
  const { parentPort } = await import('node:worker_threads')
  class Troubled extends OverlayFs {
    doStat(path, ctx) {
      if (path === '/exits') process.exit()
      if (path === '/closes') void shared.close()
      if (path === '/cancels') shared.cancel()
      if (!['/closes', '/cancels'].includes(path)) return super.doStat(path, ctx)
      return new Promise((_, reject) => {
        ctx.signal.addEventListener('abort', () => {
          reject(ctx.signal.reason)
          void this.write('/aborted', 'x').then(() => shared.resume())
        })
      })
    }
  }
  const shared = shareFileSystem(new Troubled(new MemoryFs()))
  parentPort.postMessage(shared.channel, [shared.channel.port])
})
`

/** A thread that opens a file of a line, writes, and ends without closing it. */
const CARELESS = `
import(${url('./index.ts')}).then(async ({ connectFileSystem }) => {
  const { workerData } = await import('node:worker_threads')
  const handle = connectFileSystem(workerData).open('/left-open', { write: true, create: true })
  handle.write(0, new TextEncoder().encode('what was written'))
  process.exit()
})
`

const stops: (() => unknown)[] = []
afterEach(async () => {
  for (const stop of stops.splice(0)) await stop()
})

async function connected(options?: { readonly timeoutMs: number }): Promise<ConnectedFileSystem> {
  const worker = new Worker(SHARING, { eval: true })
  stops.push(() => worker.terminate())
  const [line]: ThreadChannel[] = await once(worker, 'message')
  if (line === undefined) throw new Error('the thread shares nothing')
  return connectFileSystem(line, options)
}

function codeOf(call: () => unknown): string {
  try {
    call()
    return 'done'
  } catch (error) {
    return isVfsError(error) ? error.code : String(error)
  }
}

type Step = (fs: SyncFileSystem) => unknown

const name = fc.constantFrom('/a', '/b', '/d', '/d/a', '/d/e')
const bytes = fc.uint8Array({ maxLength: 20 })
const step: fc.Arbitrary<Step> = fc.oneof(
  name.map(
    (path): Step =>
      (fs) =>
        fs.mkdir(path),
  ),
  name.map(
    (path): Step =>
      (fs) =>
        fs.readdir(path).map((entry) => `${entry.type} ${entry.name}`),
  ),
  name.map(
    (path): Step =>
      (fs) =>
        fs.remove(path),
  ),
  name.map(
    (path): Step =>
      (fs) =>
        fs.rmdir(path),
  ),
  fc.tuple(name, name).map(
    ([from, to]): Step =>
      (fs) =>
        fs.rename(from, to),
  ),
  fc.tuple(name, name).map(
    ([target, path]): Step =>
      (fs) =>
        fs.symlink(target, path),
  ),
  name.map(
    (path): Step =>
      (fs) =>
        fs.readlink(path),
  ),
  name.map(
    (path): Step =>
      (fs) =>
        fs.realpath(path, { followLast: true }),
  ),
  name.map(
    (path): Step =>
      (fs) =>
        fs.setattr(path, { mode: 0o600, mtime: new Date(1000) }),
  ),
  name.map(
    (path): Step =>
      (fs) => {
        const { type, size, mode, nlink } = fs.stat(path)
        return { type, size: type === 'file' ? size : 0, mode, nlink: type === 'file' ? nlink : 0 }
      },
  ),
  fc.tuple(name, fc.nat(30), bytes).map(
    ([path, position, written]): Step =>
      (fs) => {
        const handle = fs.open(path, { write: true, create: true })
        handle.write(position, written)
        handle.truncate(25)
        const read = [...handle.read(0, 100)]
        handle.sync()
        handle.close()
        return read
      },
  ),
)

describe('a file system of another thread', () => {
  it('behaves as a file system of this thread, errors included', { timeout: 60_000 }, async () => {
    const remote = await connected()
    let run = 0
    fc.assert(
      fc.property(fc.array(step, { maxLength: 30 }), (steps) => {
        run += 1
        remote.mkdir(`/run-${run}`)
        const local = new MemoryFs().sync
        const here = below(remote, `/run-${run}`)
        for (const next of steps) expect(outcome(next, here)).toEqual(outcome(next, local))
      }),
      { numRuns: 60 },
    )
  })

  it('reads and writes in pieces beyond the message size', async () => {
    const fs = await connected()
    const content = new Uint8Array(3_500_001).map((_, index) => index % 251)
    const handle = fs.open('/large', { write: true, create: true })
    handle.write(3, content)
    expect(handle.stat().size).toBe(content.length + 3)
    expect(Buffer.compare(handle.read(3, 10_000_000), content)).toBe(0)
    expect(handle.read(2_000_000, 7)).toEqual(content.slice(1_999_997, 2_000_004))
    handle.close()
    expect(codeOf(() => handle.read(0, 1))).toBe('EBADF')
  })

  it('rejects writes through a handle opened for reading, also while another handle may write', async () => {
    const fs = await connected()
    const writer = fs.open('/f', { write: true, create: true })
    const reader = fs.open('/f')
    expect(codeOf(() => reader.write(0, new Uint8Array(1)))).toBe('EBADF')
    expect(codeOf(() => reader.truncate(0))).toBe('EBADF')
    writer.write(0, new Uint8Array(1))
    expect(reader.read(0, 5).length).toBe(1)
    reader.close()
    writer.close()
  })

  it('reports errors with their code, path and operation', async () => {
    const fs = await connected()
    expect(() => fs.readdir('/missing')).toThrow(
      expect.objectContaining({ code: 'ENOENT', path: '/missing', op: 'readdir' }),
    )
  })

  it('ends a blocked call with EIO when the sharing is closed, and all calls after it', async () => {
    const fs = await connected()
    expect(codeOf(() => fs.stat('/closes'))).toBe('EIO')
    expect(codeOf(() => fs.readdir('/'))).toBe('EIO')
  })

  it('ends a blocked call with EIO when the other thread has ended', async () => {
    const fs = await connected({ timeoutMs: 50 })
    expect(codeOf(() => fs.stat('/exits'))).toBe('EIO')
  })

  it('stops a cancelled call, and continues after resume', async () => {
    const fs = await connected()
    expect(codeOf(() => fs.stat('/cancels'))).toMatch(/^AbortError/)
    // The other side takes it back when its operation has been aborted.
    while (codeOf(() => fs.stat('/')) !== 'done') {}
    expect(fs.readdir('/')).toEqual([{ name: 'aborted', type: 'file' }])
  })

  it('closes the open files of a thread that ends', async () => {
    const fs = new OverlayFs(new MemoryFs())
    const shared = shareFileSystem(fs)
    const { channel } = shared
    const worker = new Worker(CARELESS, { eval: true, workerData: channel, transferList: [channel.port] })
    await once(worker, 'exit')
    await shared.close()
    expect(new TextDecoder().decode(await readFile(fs, '/left-open'))).toBe('what was written')
  })
})

describe('the channel between two threads', () => {
  it('closes a file whose open was cancelled after its response', async () => {
    await using shared = shareFileSystem(new MemoryFs({ '/f': 'x' }))
    const { port } = shared.channel
    const file = await opened(port, '/f')
    expect(await ask(port, { id: 8, name: 'statOpen', args: [file] })).toHaveProperty('value.size', 1)
    port.postMessage({ cancel: 7 })
    const late = await ask(port, { id: 9, name: 'statOpen', args: [file] })
    expect(late).toHaveProperty('error.code', 'EBADF')
  })

  it('lets a cancelled caller close its file, so that its writes are stored', async () => {
    const fs = new OverlayFs(new MemoryFs())
    await using shared = shareFileSystem(fs)
    const { port } = shared.channel
    const file = await opened(port, '/f')
    await ask(port, { id: 8, name: 'writeOpen', args: [file, 0, Buffer.from('written')] })
    const handle = new RemoteHandle(new BlockingChannel(shared.channel, Number.POSITIVE_INFINITY), file)
    shared.cancel()
    expect(() => handle.close()).toThrow('cancelled')
    shared.resume()
    const late = await ask(port, { id: 9, name: 'statOpen', args: [file] })
    expect(late).toHaveProperty('error.code', 'EBADF')
  })

  it('detaches no memory of a file system that returns parts of its own', async () => {
    await using shared = shareFileSystem(new Mapped(new MemoryFs({ '/f': '' })))
    const { port } = shared.channel
    const file = await opened(port, '/f')
    for (const id of [8, 9]) {
      const answer = await ask(port, { id, name: 'readOpen', args: [file, 2, 3] })
      expect(answer).toHaveProperty('value', new Uint8Array(Buffer.from('cde')))
    }
  })
})

/** A file system with one buffer, of which all its files are parts. */
class Mapped extends OverlayFs {
  readonly #memory = Buffer.from(new ArrayBuffer(8))

  override get capabilities(): ReadonlySet<Capability> {
    return super.capabilities.union(new Set<Capability>(['open']))
  }

  async open(path: string): Promise<FileHandle> {
    this.#memory.write('abcdefgh')
    return {
      read: async (position, length) => this.#memory.subarray(position, position + length),
      write: async () => {},
      truncate: async () => {},
      stat: () => this.stat(path),
      sync: async () => {},
      close: async () => {},
      [Symbol.asyncDispose]: async () => {},
    }
  }
}

async function opened(port: MessagePort, path: string): Promise<number> {
  const options = { write: true, create: true }
  const answer = await ask<'open'>(port, { id: 7, name: 'open', args: [path, options] })
  if ('error' in answer) throw new Error(answer.error.code)
  return answer.value
}

/** What the other end of a line does. */
function ask<Name extends RemoteCallName>(
  port: MessagePort,
  request: ThreadRequest<Name>,
): Promise<ThreadResponse<Name>> {
  return new Promise((resolve) => {
    const take = (answer: ThreadResponse<Name>) => {
      if (answer.id !== request.id) return
      port.off('message', take)
      resolve(answer)
    }
    port.on('message', take)
    port.postMessage(request)
  })
}

/** What a step gives or fails with. */
function outcome(next: Step, fs: SyncFileSystem): unknown {
  try {
    return next(fs)
  } catch (error) {
    return isVfsError(error) ? error.code : error
  }
}

/** A directory as a file system of its own. */
function below(fs: SyncFileSystem, root: string): SyncFileSystem {
  const at = (path: string) => `${root}${path}`
  const inside = (path: string) => path.slice(root.length)
  return {
    stat: (path) => fs.stat(at(path)),
    readdir: (path) => fs.readdir(at(path)),
    open: (path, options) => fs.open(at(path), options),
    mkdir: (path, options) => fs.mkdir(at(path), options),
    remove: (path, options) => fs.remove(at(path), options),
    rmdir: (path) => fs.rmdir(at(path)),
    rename: (from, to, options) => fs.rename(at(from), at(to), options),
    symlink: (target, path) => fs.symlink(at(target), at(path)),
    readlink: (path) => inside(fs.readlink(at(path))),
    realpath: (path, options) => inside(fs.realpath(at(path), options)),
    link: (existing, path) => fs.link(at(existing), at(path)),
    setattr: (path, changes) => fs.setattr(at(path), changes),
  }
}
