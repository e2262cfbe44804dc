import { type FileSystem, MemoryFs, OverlayFs, ReadOnlyFs, readText } from 'coppice'
import { createPython, PythonError, type PythonOptions } from 'coppice/adapters/pyodide'
import { afterAll, describe, expect, it, vi } from 'vitest'
import { loadPyodidePackage } from '../../../src/adapters/pyodide/load-pyodide.ts'
import { PRELUDE, programs, sqliteProgram } from './programs.ts'

/** Never answers for one of its files, and reports the request. */
class StallingFs extends OverlayFs {
  readonly #asked = Promise.withResolvers<void>()
  readonly asked: Promise<void> = this.#asked.promise
  signal: AbortSignal | undefined

  protected override doStat(...[path, ctx]: Parameters<OverlayFs['stat']>): ReturnType<OverlayFs['stat']> {
    if (path !== '/stalls') return Promise.resolve(super.doStat(path, ctx))
    this.signal = ctx?.signal
    this.#asked.resolve()
    return new Promise(() => {})
  }
}

/** Reports no modification times of directories, like object storage. */
class UndatedFs extends OverlayFs {
  protected override async doStat(
    ...[path, ctx]: Parameters<OverlayFs['stat']>
  ): ReturnType<OverlayFs['stat']> {
    const stat = await super.doStat(path, ctx)
    return stat.type === 'directory' ? { ...stat, mtime: new Date(0) } : stat
  }
}

const printed: string[] = []
const fs = new UndatedFs(new MemoryFs({ '/lower.txt': 'below' }))
const stalling = new StallingFs(new MemoryFs())
const python = await createPython({
  mounts: { '/work/inner': new ReadOnlyFs(new MemoryFs({ '/f': 'inner' })), '/work': fs },
  cwd: '/work',
  env: { GREETING: 'hello' },
  onStdout: (text) => printed.push(text),
})
await python.run(PRELUDE)
afterAll(() => python.close())

const resultOf = async (code: string) => (await python.run(code)).value

describe('Python in its own thread', () => {
  it('returns the value and the output of a program, and keeps its definitions', async () => {
    const result = await python.run(
      'import sys\nprint("out", "é")\nprint("err", file=sys.stderr)\nx = 6\nx * 7',
    )
    expect(result).toEqual({ value: 42, stdout: 'out é\n', stderr: 'err\n' })
    expect(printed.join('')).toBe('out é\n')
    expect(await resultOf('[x, {"a": b"b"}, None, os.environ["GREETING"], os.getcwd()]')).toEqual([
      6,
      { a: new Uint8Array([98]) },
      undefined,
      'hello',
      '/work',
    ])
    expect(await resultOf('os')).toMatch(/^<module 'os'/)
    expect(await resultOf('import asyncio\nawait asyncio.sleep(0)\n"waited"')).toBe('waited')
  })

  it('rejects with an uncaught exception', async () => {
    const failed = python.run('print("before")\n{}["missing"]')
    await expect(failed).rejects.toThrow(PythonError)
    await expect(failed).rejects.toMatchObject({
      type: 'KeyError',
      message: "KeyError: 'missing'",
      stdout: 'before\n',
    })
    await expect(python.run('sys.exit(3)')).rejects.toMatchObject({ type: 'SystemExit' })
    expect(await resultOf('1')).toBe(1)
  })

  it('supports nested asynchronous file systems', async () => {
    expect(await resultOf('sorted(os.listdir()), open("lower.txt").read(), open("inner/f").read()')).toEqual([
      ['inner', 'lower.txt'],
      'below',
      'inner',
    ])
    expect(await resultOf('failure(lambda: open("inner/f", "w"))')).toBe('EROFS')
    await python.run('with open("new.txt", "w") as f: f.write("x" * 3_000_000)')
    expect((await readText(fs, '/new.txt')).length).toBe(3_000_000)
    await expect(python.run('import module')).rejects.toMatchObject({ type: 'ModuleNotFoundError' })
    await fs.write('/module.py', 'answer = 1')
    expect(await resultOf('import module\nmodule.answer')).toBe(1)
  })

  it.each(programs)('runs a program that $name', async ({ code, says }) => {
    const run = `json.loads(run("/work/program-${says.length}-${code.length}", ${JSON.stringify(code)}))`
    expect(await resultOf(run)).toEqual(says)
  })

  it('supports SQLite databases', async () => {
    const run = `json.loads(run("/work/sqlite", ${JSON.stringify(sqliteProgram('delete'))}))`
    expect(await resultOf(run)).toEqual([
      'delete',
      'database is locked',
      '2000 1999000',
      '1000 ok',
      "['x.db']",
    ])
  })

  it('mounts and unmounts at run time', async () => {
    const other: FileSystem = new MemoryFs({ '/f': 'one' })
    await python.mount('/other', other)
    expect(await resultOf('open("/other/f").read()')).toBe('one')
    await expect(python.mount('/other', other)).rejects.toMatchObject({ code: 'EEXIST' })
    await python.unmount('/other')
    expect(await resultOf('os.listdir("/other")')).toEqual([])
  })

  it.each([
    ['a file system', new MemoryFs()],
    ['a path', '/work'],
    ['null', null],
  ])('rejects %s instead of options', async (_, value: unknown) => {
    await expect(createPython(value as PythonOptions)).rejects.toMatchObject({
      code: 'EINVAL',
      message: expect.stringContaining(
        "createPython takes options: createPython({ mounts: { '/work': fs } })",
      ),
    })
  })

  it('explains how to install Pyodide if it is missing', async () => {
    const missing = loadPyodidePackage(() => Promise.reject(new Error('Cannot find package')))
    await expect(missing).rejects.toThrow("ENOTSUP: the package 'pyodide' is needed: npm install pyodide")
  })
})

const WAIT = { timeout: 60_000 }

describe('a program that takes too long', () => {
  it('is interrupted during a computation, and the next one runs', async () => {
    const printed: string[] = []
    await using own = await createPython({ onStdout: (text) => printed.push(text) })
    const late = own.run('while True: pass', { timeoutMs: 1000 })
    await expect(late).rejects.toMatchObject({ code: 'ETIMEDOUT' })
    const giveUp = new AbortController()
    const stopped = own.run('print("endless")\nwhile True: pass', { signal: giveUp.signal })
    await vi.waitFor(() => expect(printed.join('')).toContain('endless'), WAIT)
    giveUp.abort(new Error('enough'))
    await expect(stopped).rejects.toThrow('enough')
    expect((await own.run('"goes on"')).value).toBe('goes on')
  })

  it('is interrupted even after the previous one closed every file', async () => {
    const printed: string[] = []
    await using own = await createPython({ onStdout: (text) => printed.push(text) })
    await own.run('import os\nos.closerange(3, 5000)')
    const counting = own.run(`
import signal, time
taken = []
signal.signal(signal.SIGINT, lambda *_: taken.append(time.monotonic()))
print("begun")
while not taken or time.monotonic() < taken[0] + 0.2: pass
len(taken)`)
    await vi.waitFor(() => expect(printed.join('')).toContain('begun'), WAIT)
    own.interrupt()
    expect((await counting).value).toBe(1)
  })

  it('is interrupted while it waits for a file, and cancels the operation', async () => {
    await python.mount('/stalling', stalling)
    const waiting = python.run('open("/stalling/stalls")')
    await stalling.asked
    python.interrupt()
    await expect(waiting).rejects.toMatchObject({ type: 'KeyboardInterrupt' })
    expect(await resultOf('os.listdir("/stalling")')).toEqual([])
    expect(stalling.signal?.aborted).toBe(true)
  })

  it('ends the interpreter if it ignores the interrupt, and later calls report that', async () => {
    const stubborn =
      'while True:\n  try:\n    print("begun")\n    while True: pass\n  except KeyboardInterrupt: pass'
    const giveUp = new AbortController()
    const running = python.run(stubborn, { signal: giveUp.signal })
    await vi.waitFor(() => expect(printed.join('')).toContain('begun'), WAIT)
    giveUp.abort(new Error('no more'))
    await expect(running).rejects.toThrow('no more')
    await expect(python.run('1')).rejects.toMatchObject({
      code: 'EPIPE',
      message: expect.stringMatching(/create another with createPython/),
    })
    await python.close()
    await python.close()
  })
})
