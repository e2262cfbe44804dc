import { execFileSync } from 'node:child_process'
import * as host from 'node:fs'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { afterEach, beforeEach, describe, expect, it } from 'vitest'
import { readFile, readText } from '../../vfs/index.ts'
import { HostFs } from './index.ts'

const isLinux = process.platform === 'linux'

let root: string
let fs: HostFs

async function names(path: string): Promise<string[]> {
  return (await Array.fromAsync(fs.readdir(path))).map(({ name }) => name)
}

async function walked(path: string): Promise<string[]> {
  return (await Array.fromAsync(fs.walk(path))).map((entry) => entry.path)
}

beforeEach(() => {
  root = host.mkdtempSync(join(tmpdir(), 'host-fs-'))
})

afterEach(async () => {
  await fs.close()
  host.rmSync(root, { recursive: true, force: true })
})

describe.each(isLinux ? (['handles', 'paths'] as const) : (['paths'] as const))('by %s', (confinement) => {
  beforeEach(() => {
    fs = new HostFs(root, { confinement })
  })

  it('lists and changes the directory', async () => {
    host.writeFileSync(join(root, 'theirs'), 'from outside')
    expect(await readText(fs, '/theirs')).toBe('from outside')
    await fs.write('/a/b/ours', 'from inside')
    expect(host.readFileSync(join(root, 'a/b/ours'), 'utf8')).toBe('from inside')
    await fs.remove('/a', { recursive: true })
    expect(host.readdirSync(root)).toEqual(['theirs'])
  })

  it('returns permission bits, and the size of files but not of directories', async () => {
    await fs.mkdir('/d', { mode: 0o1750 })
    await fs.write('/d/f', 'four', { mode: 0o606 })
    expect(await fs.stat('/d')).toMatchObject({ type: 'directory', size: 0, mode: 0o1750 })
    expect(await fs.stat('/d/f')).toMatchObject({ type: 'file', size: 4, mode: 0o606 })
    expect((await fs.stat('/d/f')).mtime).toEqual(host.statSync(join(root, 'd/f')).mtime)
  })

  it('throws ENOENT below a file on reads, and ENOTDIR on writes', async () => {
    await fs.write('/f', '')
    const looks = [
      fs.stat('/f/a'),
      fs.remove('/f/a'),
      readFile(fs, '/f/a'),
      names('/f/a'),
      fs.rename('/f/a', '/b'),
    ]
    for (const look of looks) await expect(look).rejects.toMatchObject({ code: 'ENOENT' })
    expect(await fs.exists('/f/a/b')).toBe(false)
    const stores = [fs.write('/f/a', ''), fs.mkdir('/f/a'), fs.append('/f/a/b', ''), fs.symlink('x', '/f/a')]
    for (const store of stores) await expect(store).rejects.toMatchObject({ code: 'ENOTDIR' })
  })

  it('reads ten bytes of a huge file without reading the rest', async () => {
    const path = join(root, 'huge')
    host.writeFileSync(path, '')
    host.truncateSync(path, 2 ** 40)
    const part = await readFile(fs, '/huge', { byteRange: [2 ** 39, 10] })
    expect(part).toEqual(new Uint8Array(10))
    expect(await readFile(fs, '/huge', { byteRange: [2 ** 40, 10] })).toHaveLength(0)
    expect(await readFile(fs, '/huge', { byteRange: [Number.MAX_SAFE_INTEGER, 10] })).toHaveLength(0)
  })

  it('lists a pipe as other, and rejects access to it instead of blocking', async () => {
    execFileSync('sh', ['-c', 'mkfifo "$0"', join(root, 'pipe')])
    expect((await fs.stat('/pipe')).type).toBe('other')
    expect(await Array.fromAsync(fs.readdir('/'))).toEqual([{ name: 'pipe', type: 'other' }])
    for (const use of [readFile(fs, '/pipe'), fs.write('/pipe', 'x'), fs.append('/pipe', 'x')]) {
      await expect(use).rejects.toMatchObject({ code: 'ENOTSUP', detail: expect.stringContaining('pipe') })
    }
    await fs.remove('/pipe')
    expect(host.readdirSync(root)).toEqual([])
  })

  it.runIf(isLinux)(
    'leaves out names that are not UTF-8, and removes them with their directory',
    async () => {
      const invalid = Buffer.concat([Buffer.from(`${root}/d/x`), Buffer.of(0xff)])
      await fs.write('/d/\ufffd', 'a valid name')
      host.mkdirSync(invalid)
      host.writeFileSync(Buffer.concat([invalid, Buffer.from('/inner')]), '')
      expect(await names('/d')).toEqual(['\ufffd'])
      expect(await walked('/')).toEqual(['/d/\ufffd'])
      await fs.remove('/d', { recursive: true })
      expect(host.readdirSync(root)).toEqual([])
    },
  )

  it('stores a link target unchanged, and follows relative links inside', async () => {
    await fs.write('/d/f', 'content')
    await fs.symlink('../d/./f', '/e/l')
    expect(await fs.readlink('/e/l')).toBe('../d/./f')
    expect(await readText(fs, '/e/l')).toBe('content')
    await expect(fs.symlink('', '/empty')).rejects.toMatchObject({ code: 'EINVAL' })
    await expect(fs.symlink('a\0b', '/nul')).rejects.toMatchObject({ code: 'EINVAL' })
  })

  it('renames nothing into itself, not even through a link, and creates no parents for it', async () => {
    await fs.mkdir('/d')
    await fs.symlink('d', '/l')
    await expect(fs.rename('/d', '/l/a/b')).rejects.toMatchObject({ code: 'EINVAL' })
    expect(await names('/d')).toEqual([])
    await fs.write('/d/f', 'same')
    await fs.rename('/d/f', '/l/f')
    expect(await readText(fs, '/d/f')).toBe('same')
  })

  it('appends nothing when the source fails', async () => {
    await fs.append('/log', 'one\n')
    async function* broken(): AsyncGenerator<string> {
      yield 'two\n'
      throw new Error('broken source')
    }
    await expect(fs.append('/log', broken())).rejects.toThrow('broken source')
    expect(await readText(fs, '/log')).toBe('one\n')
  })

  it('reports which directory is missing or is no directory', async () => {
    const missing = new HostFs(join(root, 'missing'), { confinement })
    await expect(missing.stat('/')).rejects.toMatchObject({
      code: 'ENOENT',
      detail: expect.stringContaining(root),
    })
    expect(await missing.exists('/')).toBe(false)
    host.writeFileSync(join(root, 'f'), '')
    await expect(new HostFs(join(root, 'f'), { confinement }).stat('/')).rejects.toMatchObject({
      code: 'ENOTDIR',
    })
  })

  it('can be closed twice, lets a running write finish, and rejects later calls', async () => {
    async function* closing(): AsyncGenerator<string> {
      yield 'before, '
      await Promise.all([fs.close(), fs.close(), fs[Symbol.asyncDispose]()])
      yield 'after'
    }
    await fs.write('/f', closing())
    expect(host.readFileSync(join(root, 'f'), 'utf8')).toBe('before, after')
    await expect(fs.stat('/f')).rejects.toMatchObject({ code: 'EBADF' })
  })
})

describe.runIf(isLinux)('by handles', () => {
  beforeEach(() => {
    fs = new HostFs(root, { confinement: 'handles' })
  })

  it('reaches any depth, however long the path', async () => {
    const deep = '/directory'.repeat(600)
    await fs.write(`${deep}/f`, 'deep')
    expect(await readText(fs, `${deep}/f`)).toBe('deep')
    expect(await walked('/')).toEqual([`${deep}/f`])
    await fs.remove('/directory', { recursive: true })
    expect(host.readdirSync(root)).toEqual([])
  })

  it('stays on its directory when that is renamed', async () => {
    await fs.write('/f', 'mine')
    host.renameSync(root, `${root}-moved`)
    host.mkdirSync(root)
    expect(await readText(fs, '/f')).toBe('mine')
    host.rmSync(root, { recursive: true })
    host.renameSync(`${root}-moved`, root)
  })

  it('reads files that report no size', async () => {
    const proc = new HostFs('/proc')
    expect((await proc.stat('/filesystems')).size).toBe(0)
    expect(await readText(proc, '/filesystems')).toBe(host.readFileSync('/proc/filesystems', 'utf8'))
    await proc.close()
  })
})
