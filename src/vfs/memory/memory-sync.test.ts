import { describe, expect, it } from 'vitest'
import { diff } from '../helpers/diff.ts'
import { readText } from '../helpers/file-content.ts'
import { MemoryFs } from './memory-fs.ts'

const bytes = (text: string): Uint8Array => new TextEncoder().encode(text)

async function changes(before: MemoryFs, after: MemoryFs): Promise<string[]> {
  return (await Array.fromAsync(diff(before, after))).map(({ kind, path }) => `${kind} ${path}`)
}

describe('what is written through a handle', () => {
  it('is emptied by opening with truncate, which leaves nothing open behind', async () => {
    const fs = new MemoryFs({ '/f': 'old' })
    const handle = fs.sync.open('/f', { truncate: true })
    expect([handle.stat().size, await readText(fs, '/f')]).toEqual([0, ''])
    expect(() => handle.write(0, bytes('x'))).toThrow('EBADF')
    handle.close()
  })

  it('is found by a later search, and not by one that has started', async () => {
    const fs = new MemoryFs({ '/a': 'needle here', '/b': 'needle here' })
    const handle = fs.sync.open('/b', { write: true })
    handle.write(0, bytes('n'))
    const matches = fs.search('/', { pattern: 'needle' })[Symbol.asyncIterator]()
    expect((await matches.next()).value?.path).toBe('/a')
    handle.write(0, bytes('NEEDLE'))
    expect((await matches.next()).value?.path).toBe('/b')
    expect(await Array.fromAsync(fs.search('/', { pattern: 'NEEDLE' }))).toHaveLength(1)
  })

  it('changes the hash, and the modification time of the file but not of its directory', async () => {
    let now = 1000
    const fs = new MemoryFs({ '/d/f': 'old' }, { now: () => now })
    const [before, directory] = [await fs.hash('/d/f'), await fs.stat('/d')]
    const handle = fs.sync.open('/d/f', { write: true })
    now = 2000
    handle.write(0, bytes('new'))
    expect(await fs.hash('/d/f')).not.toBe(before)
    expect((await fs.stat('/d/f')).mtime.getTime()).toBe(2000)
    expect(await fs.stat('/d')).toEqual(directory)
    now = 3000
    handle.write(0, bytes('newer'))
    expect(await fs.hash('/d/f')).toBe(await new MemoryFs({ '/f': 'newer' }).hash('/f'))
  })

  it('does not reach a fork through what was appended before or after it', async () => {
    const fs = new MemoryFs({ '/f': 'start ' })
    await fs.append('/f', 'more ')
    const handle = fs.sync.open('/f', { write: true })
    handle.write(11, bytes('end'))
    const fork = fs.fork()
    await fork.append('/f', ' of the fork')
    await fs.append('/f', ' of the first')
    handle.write(0, bytes('START'))
    expect(await readText(fork, '/f')).toBe('start more end of the fork')
    expect(await readText(fs, '/f')).toBe('START more end of the first')
  })

  it("changes neither bytes read before nor the caller's array", async () => {
    const fs = new MemoryFs({ '/f': 'abc' })
    const handle = fs.sync.open('/f', { write: true })
    const given = bytes('xyz')
    handle.write(0, given)
    const [whole, part] = [handle.read(0, 3), handle.read(1, 1)]
    handle.write(0, bytes('123'))
    expect([Buffer.from(whole).toString(), Buffer.from(part).toString()]).toEqual(['xyz', 'y'])
    expect(Buffer.from(given).toString()).toBe('xyz')
  })

  it('reads zeros in truncated bytes, however the file grows again', async () => {
    const fs = new MemoryFs()
    const handle = fs.sync.open('/f', { write: true, create: true })
    handle.write(0, bytes('abcdef'))
    handle.truncate(2)
    handle.truncate(4)
    expect(await readText(fs, '/f')).toBe('ab\0\0')
    handle.truncate(1)
    await fs.append('/f', 'Z')
    handle.write(4, bytes('!'))
    expect(await readText(fs, '/f')).toBe('aZ\0\0!')
  })

  it('is EFBIG beyond the memory limit, and leaves the file unchanged', () => {
    const fs = new MemoryFs({ '/f': 'abc' })
    const handle = fs.sync.open('/f', { write: true })
    const refused = expect.objectContaining({ code: 'EFBIG', path: '/f' })
    expect(() => handle.truncate(Number.MAX_SAFE_INTEGER)).toThrow(refused)
    expect(() => handle.write(Number.MAX_SAFE_INTEGER - 1, bytes('x'))).toThrow(refused)
    expect(handle.stat().size).toBe(3)
  })

  it('costs time of the bytes written, not of the file: the buffer is reused', () => {
    const fs = new MemoryFs()
    const handle = fs.sync.open('/f', { write: true, create: true })
    const before = process.memoryUsage().arrayBuffers
    const page = new Uint8Array(4096).fill(1)
    for (let at = 0; at < 4096; at++) handle.write(at * 4096, page)
    for (let at = 0; at < 4096; at++) handle.write(at * 4096, page)
    // A copy of the file for each write would be 128 GiB; doubling leaves some times its size behind.
    expect(process.memoryUsage().arrayBuffers - before).toBeLessThan(8 * 16 * 1024 * 1024)
  })
})

describe('several names', () => {
  it('differ from equal content: a diff lists a change under every name', async () => {
    const fs = new MemoryFs({ '/a': 'one', '/b/c': 'two' })
    await fs.link('/a', '/b/a')
    const fork = fs.fork()
    expect(await changes(fs, fork)).toEqual([])
    await fork.write('/a', 'ONE')
    expect(await changes(fs, fork)).toEqual(['modified /a', 'modified /b/a'])
    await fork.rename('/b', '/moved')
    expect(await changes(fs, fork)).toEqual([
      'modified /a',
      'deleted /b/a',
      'deleted /b/c',
      'added /moved/a',
      'added /moved/c',
    ])
    await fork.write('/a', 'one')
    await fork.rename('/moved', '/b')
    expect(await changes(fs, fork)).toEqual([])
  })

  it('do not change a listing or walk that has started', async () => {
    const fs = new MemoryFs({ '/a': 'one' })
    await fs.link('/a', '/b')
    const walk = fs.walk('/')
    await fs.write('/a', 'longer')
    await fs.remove('/a')
    await fs.remove('/b')
    const seen = await Array.fromAsync(walk)
    expect(seen.map(({ path, stat }) => [path, stat.size])).toEqual([
      ['/a', 3],
      ['/b', 3],
    ])
  })

  it('are counted when a tree with some of them is replaced or removed', async () => {
    const fs = new MemoryFs({ '/t/a': 'x', '/t/d/b': 'y' })
    await fs.link('/t/a', '/keep')
    await fs.link('/t/a', '/t/d/again')
    expect((await fs.identity('/keep')).nlink).toBe(3)
    await fs.remove('/t/d', { recursive: true })
    expect((await fs.identity('/keep')).nlink).toBe(2)
    await fs.write('/other', 'z')
    await fs.rename('/other', '/t/a', { overwrite: true })
    expect((await fs.identity('/keep')).nlink).toBe(1)
  })

  it('keep a file open under a removed name while another name exists', async () => {
    const fs = new MemoryFs({ '/a': 'one' })
    const handle = fs.sync.open('/a', { write: true })
    await fs.link('/a', '/b')
    await fs.remove('/a')
    handle.write(0, bytes('ONE'))
    expect(await readText(fs, '/b')).toBe('ONE')
    await fs.remove('/b')
    handle.write(0, bytes('One'))
    expect(handle.stat().nlink).toBe(0)
    expect(Buffer.from(handle.read(0, 9)).toString()).toBe('One')
  })
})

describe('attributes', () => {
  it('keep only the permission bits of a mode', async () => {
    const fs = new MemoryFs({ '/f': '' })
    await fs.setattr('/f', { mode: 0o100755 })
    expect((await fs.stat('/f')).mode).toBe(0o755)
  })

  it('of the root can be set', async () => {
    const fs = new MemoryFs()
    const fork = fs.fork()
    await fs.setattr('/', { mode: 0o700 })
    expect((await fs.stat('/')).mode).toBe(0o700)
    expect((await fork.stat('/')).mode).toBe(0o755)
  })
})
