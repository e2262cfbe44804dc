import { once } from 'node:events'
import realFs from 'node:fs'
import { pipeline } from 'node:stream/promises'
import { setImmediate as nextTurn } from 'node:timers/promises'
import { pathToFileURL } from 'node:url'
import { promisify } from 'node:util'
import { describe, expect, it } from 'vitest'
import { openHome } from '../../backends/vault/index.ts'
import {
  type Capability,
  type FileSystem,
  MemoryFs,
  MountTable,
  ReadOnlyFs,
  readText,
} from '../../vfs/index.ts'
import { nodeFs } from './index.ts'
import { NodeFileHandle } from './node-file-handle.ts'

/** The same file system without its synchronous face, and what else is named. */
function patient(fs: FileSystem, ...without: readonly Capability[]): FileSystem {
  const capabilities = new Set(fs.capabilities)
  for (const capability of ['sync', ...without] as const) capabilities.delete(capability)
  return new Proxy(fs, {
    get(target, key) {
      const found: unknown = Reflect.get(target, key)
      if (key === 'capabilities') return capabilities
      return typeof found === 'function' ? found.bind(target) : found
    },
  })
}

describe('nodeFs', () => {
  it('reads on where the last read ends, also before that has ended', async () => {
    const memory = new MemoryFs({ '/file': 'abcdefgh' })
    for (const fs of [memory, patient(memory)]) {
      const handle = await nodeFs(fs).promises.open('/file')
      const reads = await Promise.all([handle.read(Buffer.alloc(3)), handle.read(Buffer.alloc(3))])
      expect(reads.map(({ buffer }) => buffer.toString())).toEqual(['abc', 'def'])
      await handle.close()
    }
  })

  it('changes the attributes of the open file, and of no other with its name', async () => {
    const fs = nodeFs(new MemoryFs({ '/a': 'a', '/b': 'b' }))
    const fd = fs.openSync('/a', 'r+')
    fs.renameSync('/b', '/a')
    expect(() => fs.fchmodSync(fd, 0o600)).toThrow('ENOENT')
    expect(() => fs.futimesSync(fd, 1, 1)).toThrow('ENOENT')
    expect(fs.statSync('/a').mode & 0o777).toBe(0o644)
    const handle = await fs.promises.open('/a', 'r+')
    await handle.chmod(0o600)
    expect(fs.statSync('/a').mode & 0o777).toBe(0o600)
    await handle.close()
  })

  it('loses none of concurrent appends to one file', async () => {
    const files = new MemoryFs({ '/log': '0' })
    const handle = await nodeFs(patient(files)).promises.open('/log', 'a')
    await Promise.all(['1', '2', '3'].map((text) => handle.appendFile(text)))
    await Promise.all([handle.write('4'), handle.write('5')])
    await handle.close()
    expect(await readText(files, '/log')).toBe('012345')
  })

  it('describes files in mounts with and without inode numbers', async () => {
    const plain = patient(new MemoryFs({ '/f': 'x' }), 'hardlink')
    const { promises } = nodeFs(new MountTable({ '/': new MemoryFs({ '/g': '' }), '/plain': plain }))
    expect((await promises.stat('/plain/f')).size).toBe(1)
    expect((await promises.stat('/g')).nlink).toBe(1)
  })

  it("shows a vault's history, which its synchronous interface lacks", async () => {
    await using home = await openHome()
    const vault = await home.createVault('base')
    await vault.write('/f', 'then')
    await vault.checkpoint('first')
    await vault.write('/f', 'now')
    const { promises } = nodeFs(vault)
    const past = '/.coppice/at/first/f'
    expect((await promises.stat(past)).size).toBe(4)
    const handle = await promises.open(past)
    expect(await handle.readFile('utf8')).toBe('then')
    await handle.close()
  })

  it('fails as Node does: message, code, errno, syscall and paths as given', async () => {
    const fs = nodeFs(new MemoryFs({ '/a/file': 'x' }), { cwd: '/a' })
    await expect(fs.promises.readFile('missing')).rejects.toMatchObject({
      message: "ENOENT: no such file or directory, open 'missing'",
      code: 'ENOENT',
      errno: -2,
      syscall: 'open',
      path: 'missing',
    })
    expect(() => fs.renameSync('/nothing', '/else')).toThrow(
      "ENOENT: no such file or directory, rename '/nothing' -> '/else'",
    )
    expect(() => fs.readdirSync('file')).toThrow("ENOTDIR: not a directory, scandir 'file'")
    expect(() => fs.readFileSync('/a')).toThrow(/^EISDIR: illegal operation on a directory, read$/)
    expect(() => fs.fstatSync(3)).toThrow('EBADF: bad file descriptor, fstat')
  })

  it('keeps the original error as the cause, and its detail in the message', async () => {
    const fs = nodeFs(new ReadOnlyFs(new MemoryFs({ '/file': 'x' })))
    const refused = await fs.promises.writeFile('/file', 'y').catch((error: unknown) => error)
    expect(refused).toMatchObject({ code: 'EROFS', cause: { name: 'VfsError', code: 'EROFS' } })
    await expect(fs.promises.access('/file', realFs.constants.W_OK)).rejects.toMatchObject({ code: 'EROFS' })
  })

  it('throws invalid arguments synchronously, also with a callback', () => {
    const fs = nodeFs(new MemoryFs())
    const unheard = () => {
      throw new Error('the callback was called')
    }
    expect(() => fs.readFile('/a\0b', unheard)).toThrow(
      expect.objectContaining({ code: 'ERR_INVALID_ARG_VALUE' }),
    )
    expect(() => Reflect.apply(fs.stat, fs, [5, unheard])).toThrow(
      expect.objectContaining({ code: 'ERR_INVALID_ARG_TYPE' }),
    )
    expect(() => Reflect.apply(fs.stat, fs, ['/a'])).toThrow(
      expect.objectContaining({ code: 'ERR_INVALID_ARG_TYPE' }),
    )
  })

  it('accepts file: URLs, bytes and relative paths', async () => {
    const memory = new MemoryFs({ '/a/grüße': 'hello' })
    const fs = nodeFs(memory, { cwd: '/a' })
    expect(await fs.promises.readFile(pathToFileURL('/a/grüße'), 'utf8')).toBe('hello')
    expect(fs.readFileSync(Buffer.from('/a/grüße'), 'utf8')).toBe('hello')
    expect(fs.readFileSync('./../a/grüße', 'utf8')).toBe('hello')
    expect(fs.readdirSync('.', 'buffer')).toEqual([Buffer.from('grüße')])
    expect(fs.readFileSync('grüße', 'base64')).toBe(Buffer.from('hello').toString('base64'))
  })

  it('has the synchronous calls only if the file system has a synchronous interface', async () => {
    const fs = nodeFs(patient(new MemoryFs({ '/file': 'x' })))
    expect(() => fs.readFileSync('/file')).toThrow(
      'ENOTSUP: operation not supported, readFileSync (this file system has no synchronous interface; use promises or callbacks)',
    )
    expect(() => fs.existsSync('/file')).toThrow(expect.objectContaining({ code: 'ENOTSUP' }))
    expect(await fs.promises.readFile('/file', 'utf8')).toBe('x')
  })

  it.each([false, true])("returns stats whose dates can be set, as Node's (bigint: %s)", (bigint) => {
    const fs = nodeFs(new MemoryFs({ '/file': '' }))
    const own = fs.statSync('/file', { bigint })
    for (const stats of [own, realFs.statSync('/', { bigint })]) {
      const before = stats.mtimeMs
      expect(stats.mtime).toBe(stats.mtime)
      for (const name of ['atime', 'mtime', 'ctime', 'birthtime'] as const) {
        stats[name] = new Date(5)
        expect(stats[name]).toEqual(new Date(5))
        // Node lists them since version 24.
        if (stats === own) expect(Object.keys(stats)).toContain(name)
      }
      expect(stats.mtimeMs).toBe(before)
    }
  })

  it('returns stats as numbers and as bigints', async () => {
    const memory = new MemoryFs({ '/file': 'hello' }, { now: () => 1_700_000_000_123 })
    const fs = nodeFs(memory, { uid: 7, gid: 8 })
    const stats = await fs.promises.stat('/file')
    expect(stats).toMatchObject({
      size: 5,
      mode: 0o100644,
      uid: 7,
      gid: 8,
      blocks: 1,
      mtimeMs: 1_700_000_000_123,
    })
    expect(stats).toBeInstanceOf(fs.Stats)
    expect(stats.mtime).toEqual(new Date(1_700_000_000_123))
    const big = fs.statSync('/file', { bigint: true })
    expect([big.size, big.mtimeNs]).toEqual([5n, 1_700_000_000_123_000_000n])
    expect(fs.statSync('/missing', { throwIfNoEntry: false })).toBeUndefined()
  })

  it.each([
    ['memory', (fs: FileSystem) => fs],
    ['an asynchronous file system', patient],
  ])('reads and writes an open file in any order, over %s', async (_, over) => {
    const fs = nodeFs(over(new MemoryFs()))
    await using file = await fs.promises.open('/file', 'w+')
    expect(file).toBeInstanceOf(NodeFileHandle)
    await file.write('hello world')
    await file.write(Buffer.from('WORLD'), 0, 5, 6)
    await file.writev([Buffer.from('!'), Buffer.from('?')])
    const { bytesRead, buffer } = await file.read({ buffer: Buffer.alloc(5), position: 6 })
    expect([bytesRead, buffer.toString()]).toEqual([5, 'WORLD'])
    await file.truncate(11)
    expect((await file.stat()).size).toBe(11)
    await file.close()
    expect(await fs.promises.readFile('/file', 'utf8')).toBe('hello WORLD')
    await expect(file.read()).rejects.toMatchObject({ code: 'EBADF' })
  })

  it('shares descriptors between all forms of calls, and frees them', async () => {
    const fs = nodeFs(new MemoryFs({ '/file': 'hello' }))
    const fd = fs.openSync('/file', 'r')
    const { bytesRead, buffer } = await promisify(fs.read)(fd, Buffer.alloc(10), 0, 10, 1)
    expect([bytesRead, buffer.toString('utf8', 0, bytesRead)]).toEqual([4, 'ello'])
    expect(fs.readFileSync(fd, 'utf8')).toBe('hello')
    expect(() => realFs.fstatSync(fd)).toThrow('EBADF')
    fs.closeSync(fd)
    expect(() => fs.closeSync(fd)).toThrow('EBADF: bad file descriptor, close')
    expect(fs.openSync('/file', 'r')).toBe(fd)
  })

  it('reads an open file after its name is removed', () => {
    const fs = nodeFs(new MemoryFs({ '/file': 'still here' }))
    const fd = fs.openSync('/file', 'r')
    fs.unlinkSync('/file')
    expect(fs.readFileSync(fd, 'utf8')).toBe('still here')
    fs.closeSync(fd)
  })

  it('streams parts of files, and into the middle of one', async () => {
    const memory = new MemoryFs({ '/file': '0123456789' })
    const fs = nodeFs(memory)
    const part = fs.createReadStream('/file', { start: 2, end: 6, highWaterMark: 2, encoding: 'utf8' })
    expect(await part.toArray()).toEqual(['23', '45', '6'])
    expect(part).toBeInstanceOf(fs.ReadStream)
    await pipeline(['ab', 'cd'], fs.createWriteStream('/file', { flags: 'r+', start: 3 }))
    expect(await readText(memory, '/file')).toBe('012abcd789')
    await pipeline(fs.createReadStream('/file'), fs.createWriteStream('/copy', { flags: 'a', flush: true }))
    expect(await readText(memory, '/copy')).toBe('012abcd789')
    const [error] = await once(fs.createReadStream('/missing'), 'error')
    expect(error).toMatchObject({ code: 'ENOENT', syscall: 'open' })
  })

  it('never opens files of this machine through its stream classes', async () => {
    const fs = nodeFs(new MemoryFs())
    const stream: unknown = Reflect.construct(fs.ReadStream, [import.meta.filename])
    if (!(stream instanceof realFs.ReadStream)) throw new Error('no stream')
    const [error] = await once(stream, 'error')
    expect(error).toMatchObject({ code: 'ENOENT' })
  })

  it('streams from and to a handle, which is closed with the stream', async () => {
    const fs = nodeFs(new MemoryFs({ '/file': 'one\ntwo\n' }))
    const file = await fs.promises.open('/file')
    const lines: string[] = []
    for await (const line of file.readLines()) lines.push(line)
    expect(lines).toEqual(['one', 'two'])
    while (file.fd !== -1) await nextTurn()
    await file.close()
  })

  it('lists whole trees, and directories name by name', async () => {
    const fs = nodeFs(new MemoryFs({ '/a/b/c': '', '/a/d': '' }))
    expect(await fs.promises.readdir('/a', { recursive: true })).toEqual(['b', 'd', 'b/c'])
    const names: string[] = []
    for await (const entry of await fs.promises.opendir('/', { recursive: true })) {
      names.push(`${entry.parentPath} ${entry.name} ${entry.isDirectory()}`)
    }
    expect(names).toEqual(['/ a true', '/a b true', '/a d false', '/a/b c false'])
    const directory = fs.opendirSync('/a')
    expect([directory.readSync()?.name, directory.readSync()?.name, directory.readSync()]).toEqual([
      'b',
      'd',
      null,
    ])
    directory.closeSync()
    expect(() => directory.readSync()).toThrow(expect.objectContaining({ code: 'ERR_DIR_CLOSED' }))
  })

  it('writes iterables', async () => {
    const fs = nodeFs(new MemoryFs())
    async function* pieces(): AsyncGenerator<string> {
      yield 'one '
      yield 'two'
    }
    await fs.promises.writeFile('/file', pieces())
    expect(fs.readFileSync('/file', 'utf8')).toBe('one two')
    const aborted = fs.promises.writeFile('/file', 'x', { signal: AbortSignal.abort() })
    await expect(aborted).rejects.toMatchObject({ name: 'AbortError', code: 'ABORT_ERR' })
  })

  it('creates unique temporary directories', async () => {
    const fs = nodeFs(new MemoryFs())
    const [one, two] = [await fs.promises.mkdtemp('/t-'), fs.mkdtempSync('/t-')]
    expect(one).toMatch(/^\/t-\w{6}$/)
    expect(one).not.toBe(two)
    expect(() => fs.mkdtempSync('/no/t-')).toThrow(
      "ENOENT: no such file or directory, mkdtemp '/no/t-XXXXXX'",
    )
  })

  it('copies what a filter accepts', async () => {
    const fs = nodeFs(new MemoryFs({ '/a/yes': '', '/a/no': '' }))
    await fs.promises.cp('/a', '/b', { recursive: true, filter: async (path) => !path.endsWith('no') })
    expect(fs.readdirSync('/b')).toEqual(['yes'])
  })

  it('keeps an existing file, or fails, if a copy must not replace it', async () => {
    const memory = new MemoryFs({ '/a': 'new', '/b': 'old' })
    const fs = nodeFs(memory)
    await fs.promises.cp('/a', '/b', { force: false })
    expect(await readText(memory, '/b')).toBe('old')
    const refused = fs.promises.cp('/a', '/b', { force: false, errorOnExist: true })
    await expect(refused).rejects.toMatchObject({ code: 'ERR_FS_CP_EEXIST' })
  })

  it('does not remove a link to an empty directory with rmdir', async () => {
    const memory = new MemoryFs()
    await memory.mkdir('/empty')
    await memory.symlink('/empty', '/link')
    for (const fs of [nodeFs(memory), nodeFs(patient(memory))]) {
      await expect(fs.promises.rmdir('/link')).rejects.toMatchObject({ code: 'ENOTDIR' })
    }
    expect(await memory.readlink('/link')).toBe('/empty')
  })

  it('reports one owner for every file', async () => {
    const fs = nodeFs(new MemoryFs({ '/file': '' }), { uid: 5, gid: 5 })
    await fs.promises.chown('/file', 5, -1)
    await expect(fs.promises.chown('/file', 6, 5)).rejects.toMatchObject({ code: 'EPERM' })
  })

  it('reports changes in a vault until it is closed', async () => {
    await using home = await openHome()
    const vault = await home.createVault('v')
    await vault.write('/d/old', 'x')
    const fs = nodeFs(vault)
    const watcher = fs.watch('/d')
    const heard = once(watcher, 'change')
    // A watch begins at its first step, which this call does not wait for.
    for (let count = 0; watcher.listenerCount('change') > 0; count++) {
      await vault.write('/d/old', `${count}`)
      await nextTurn()
    }
    expect(await heard).toEqual(['change', 'old'])
    watcher.close()
    await once(watcher, 'close')

    const stop = new AbortController()
    const events = fs.promises.watch('/d', { signal: stop.signal })
    const first = events[Symbol.asyncIterator]().next()
    let isHeard = false
    first.then(() => {
      isHeard = true
    })
    for (let count = 0; !isHeard; count++) {
      await vault.write(`/d/new-${count}`, 'x')
      await nextTurn()
    }
    expect((await first).value).toMatchObject({
      eventType: 'rename',
      filename: expect.stringMatching(/^new-/),
    })
    stop.abort()
  })

  it('cannot watch a file system without the watch capability', async () => {
    const [error] = await once(nodeFs(new MemoryFs()).watch('/'), 'error')
    expect(error).toMatchObject({ code: 'ENOTSUP', syscall: 'watch' })
  })
})
