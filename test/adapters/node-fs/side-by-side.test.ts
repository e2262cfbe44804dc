import realFs, { mkdtempSync, rmSync } from 'node:fs'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { text } from 'node:stream/consumers'
import { describe, expect, it, onTestFinished } from 'vitest'
import { guard } from '../../../src/access/index.ts'
import { nodeFs } from '../../../src/adapters/node-fs/index.ts'
import { openHome } from '../../../src/backends/vault/index.ts'
import { MemoryFs } from '../../../src/vfs/index.ts'

type Fs = Pick<ReturnType<typeof nodeFs>, 'promises' | 'opendir' | 'watch'>

function scratch(): string {
  const directory = mkdtempSync(join(tmpdir(), 'node-fs-'))
  onTestFinished(() => rmSync(directory, { recursive: true }))
  return directory
}

async function vaultFs(): Promise<Fs> {
  const home = await openHome({ path: scratch() })
  onTestFinished(() => home.close())
  return nodeFs(await home.createVault('work'))
}

/** Node's own on a temporary directory, and ours: equal calls have equal outcomes. */
const subjects: readonly [string, () => Promise<{ fs: Fs; top: string }>][] = [
  ['node:fs', async () => ({ fs: realFs, top: scratch() })],
  ['memory', async () => ({ fs: nodeFs(new MemoryFs({ '/top/x': '' })), top: '/top' })],
  ['a vault', async () => ({ fs: await vaultFs(), top: '/' })],
]

const watchers = subjects.filter(([name]) => name !== 'memory')

/** Returns name and code of the error that a call throws or rejects with. */
async function failure(act: () => unknown): Promise<unknown> {
  try {
    await act()
  } catch (error) {
    return error instanceof Error ? [error.name, Reflect.get(error, 'code')] : error
  }
  return 'nothing'
}

const loose = (value: unknown): object => Object(value)

describe.each(subjects)('a directory of %s', (_, make) => {
  it('can be read and closed synchronously after an asynchronous open', async () => {
    const { fs, top } = await make()
    const place = join(top, 'd')
    await fs.promises.mkdir(place)
    await fs.promises.writeFile(join(place, 'a'), '')
    const byCallback = new Promise<realFs.Dir>((resolve, reject) => {
      fs.opendir(place, (error, dir) => (error === null ? resolve(dir) : reject(error)))
    })
    for (const dir of [await fs.promises.opendir(place), await byCallback]) {
      expect([dir.readSync()?.name, dir.readSync()]).toEqual(['a', null])
      expect(dir.closeSync()).toBeUndefined()
      for (const again of [() => dir.readSync(), () => dir.closeSync(), () => dir.close()]) {
        expect(await failure(again)).toEqual(['Error', 'ERR_DIR_CLOSED'])
      }
    }
  })

  it('refuses synchronous calls during an asynchronous one', async () => {
    const { fs, top } = await make()
    const dir = await fs.promises.opendir(top)
    const pending = dir.read()
    for (const act of [() => dir.readSync(), () => dir.closeSync()]) {
      expect(await failure(act)).toEqual(['Error', 'ERR_DIR_CONCURRENT_OPERATION'])
      await pending
      break
    }
    await dir.close()
  })
})

it('reports that an asynchronous file system has no synchronous directory, and closes', async () => {
  const fs = nodeFs(guard(new MemoryFs({ '/a': '' }), []))
  const dir = await fs.promises.opendir('/')
  expect(await failure(() => dir.readSync())).toEqual(['Error', 'ENOTSUP'])
  expect((await dir.read())?.name).toBe('a')
  dir.closeSync()
  expect(await failure(() => dir.read())).toEqual(['Error', 'ERR_DIR_CLOSED'])
})

describe.each(subjects)('a file handle of %s', (_, make) => {
  const content = 'some bytes '.repeat(5000)

  async function opened() {
    const { fs, top } = await make()
    const path = join(top, 'file')
    await fs.promises.writeFile(path, content)
    return async () => {
      const handle = await fs.promises.open(path)
      onTestFinished(() => handle.close().catch(() => {}))
      return handle
    }
  }

  it('returns one stream of its bytes, and stays open', async () => {
    const handle = await (await opened())()
    const stream = handle.readableWebStream()
    expect(await failure(() => handle.readableWebStream())).toEqual(['Error', 'ERR_INVALID_STATE'])
    expect(await text(stream)).toBe(content)
    expect(handle.fd).toBeGreaterThanOrEqual(0)
    expect(await failure(() => handle.readableWebStream())).toEqual(['Error', 'ERR_INVALID_STATE'])
    await handle.close()
    expect(await failure(() => handle.readableWebStream())).toEqual(['Error', 'ERR_INVALID_STATE'])
  })

  it('is closed with its stream on request, at its end or on cancellation', async () => {
    const open = await opened()
    const [read, cancelled] = [await open(), await open()]
    await text(read.readableWebStream({ autoClose: true }))
    await expect.poll(() => read.fd).toBe(-1)
    await cancelled.readableWebStream({ autoClose: true }).cancel()
    expect(cancelled.fd).toBe(-1)
    const wrong: object = { autoClose: 1 }
    const handle = await open()
    expect(await failure(() => handle.readableWebStream(wrong))).toEqual([
      'TypeError',
      'ERR_INVALID_ARG_TYPE',
    ])
  })

  it('ends its stream when it is closed', async () => {
    const handle = await (await opened())()
    const reader = handle.readableWebStream().getReader()
    expect((await reader.read()).done).toBe(false)
    await handle.close()
    expect(await reader.read()).toEqual({ done: true, value: undefined })
  })

  it('has an async id', async () => {
    const open = await opened()
    const [one, other] = [await open(), await open()]
    const ids = [one, other].map((handle) => Reflect.get(handle, 'getAsyncId').call(handle))
    expect(ids).toEqual([expect.any(Number), expect.any(Number)])
    expect(ids[0]).not.toBe(ids[1])
  })
})

describe.each(watchers)('promises.watch of %s', (_, make) => {
  it('fails with ABORT_ERR when aborted, also before its start', async () => {
    const { fs, top } = await make()
    const reason = new Error('enough')
    const aborted = fs.promises.watch(top, { signal: AbortSignal.abort(reason) })
    const during = new AbortController()
    const watching = fs.promises.watch(top, { signal: during.signal })[Symbol.asyncIterator]()
    const next = watching.next()
    during.abort(reason)
    for (const act of [() => aborted[Symbol.asyncIterator]().next(), () => next]) {
      await expect(act()).rejects.toMatchObject({ name: 'AbortError', code: 'ABORT_ERR', cause: reason })
    }
    expect(await watching.next()).toEqual({ done: true, value: undefined })
  })

  it.each<[object]>([
    [{ maxQueue: '1' }],
    [{ maxQueue: 1.5 }],
    [{ overflow: 'x' }],
    [{ signal: 5 }],
    [{ persistent: 5 }],
    [{ recursive: 5 }],
    [{ encoding: 'zz' }],
  ])('refuses %j on first use', async (options) => {
    const { fs, top } = await make()
    const events = fs.promises.watch(top, options)
    const refusal = await failure(() => events[Symbol.asyncIterator]().next())
    const real = realFs.promises.watch(tmpdir(), options)
    expect(refusal).toEqual(await failure(() => real[Symbol.asyncIterator]().next()))
  })

  it('fails on request if its queue overflows', async () => {
    const { fs, top } = await make()
    const options = loose({ maxQueue: 3, overflow: 'error' })
    const events = fs.promises.watch(top, options)[Symbol.asyncIterator]()
    const first = events.next()
    for (let count = 0; count < 100; count++) await fs.promises.writeFile(join(top, `f${count}`), '')
    expect((await first).done).toBe(false)
    const all = async () => {
      while (!(await events.next()).done);
    }
    expect(await failure(all)).toEqual(['Error', 'ERR_FS_WATCH_QUEUE_OVERFLOW'])
  })

  it('closes a watcher whose signal is already aborted', async () => {
    const { fs, top } = await make()
    const watcher = fs.watch(top, { signal: AbortSignal.abort() })
    await new Promise((resolve) => watcher.once('close', () => resolve(undefined)))
  })
})
