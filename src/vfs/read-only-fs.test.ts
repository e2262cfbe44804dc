import { describe, expect, it } from 'vitest'
import type { Capability } from './file-system.ts'
import { readText } from './helpers/file-content.ts'
import { MemoryFs } from './memory/memory-fs.ts'
import { ReadOnlyFs } from './read-only-fs.ts'

/** A memory with the required core only. */
class Plain extends MemoryFs {
  override readonly capabilities: ReadonlySet<Capability> = new Set(['read', 'write'])
}

describe('ReadOnlyFs', () => {
  it('rejects every mutation with EROFS before it reads the content', async () => {
    const inner = new MemoryFs({ '/f': 'x' })
    const fs = new ReadOnlyFs(inner)
    let begun = false
    const content = async function* () {
      begun = true
      yield 'y'
    }
    for (const refused of [
      fs.write('/f', content()),
      fs.write('/f', 'y', { ifMatch: null }),
      fs.mkdir('/d', { parents: true }),
      fs.remove('/missing'),
      fs.symlink('f', '/link'),
    ]) {
      await expect(refused).rejects.toMatchObject({ code: 'EROFS' })
    }
    expect(begun).toBe(false)
    expect(await readText(inner, '/f')).toBe('x')
  })

  it('declares the read capabilities of the inner file system, and no others', () => {
    expect(new ReadOnlyFs(new Plain()).capabilities).toEqual(new Set(['read']))
    const { capabilities } = new ReadOnlyFs(new MemoryFs())
    for (const kept of ['read', 'native-walk', 'native-read', 'link', 'search', 'hash', 'fork'] as const) {
      expect(capabilities.has(kept), kept).toBe(true)
    }
    for (const gone of ['write', 'mkdir', 'append', 'rename'] as const) {
      expect(capabilities.has(gone), gone).toBe(false)
    }
  })

  it('shows later writes to the inner file system, but a fork does not', async () => {
    const inner = new MemoryFs({ '/f': 'old' })
    const fs = new ReadOnlyFs(inner)
    const fork = fs.fork()
    await inner.write('/f', 'new')
    expect([await readText(fs, '/f'), await readText(fork, '/f')]).toEqual(['new', 'old'])
    await expect(fork.write('/f', 'x')).rejects.toMatchObject({ code: 'EROFS' })
  })

  it('composes operations that the inner file system lacks, or throws', async () => {
    const fs = new ReadOnlyFs(new Plain({ '/d/f': 'hit' }))
    expect((await Array.fromAsync(fs.search('/', { pattern: 'hit' }))).map(({ path }) => path)).toEqual([
      '/d/f',
    ])
    expect(await fs.hash('/d/f')).toBe(await new MemoryFs({ '/f': 'hit' }).hash('/f'))
    expect(await fs.realpath('/d/f')).toBe('/d/f')
    await expect(fs.readlink('/d/f')).rejects.toMatchObject({ code: 'ENOTSUP', path: '/d/f' })
    expect(() => fs.fork()).toThrow(expect.objectContaining({ code: 'ENOTSUP' }))
  })
})
