import { describe, expect, it } from 'vitest'
import { VfsError } from '../error.ts'
import type { Capability, FileSystem, ReadOptions } from '../file-system.ts'
import { MemoryFs } from '../memory/memory-fs.ts'
import { OverlayFs } from '../overlay/overlay-fs.ts'
import { grep } from './grep.ts'

const lines = (...all: string[]) => all.join('\n')

/** Not searchable, so that grep has to read; notes which files are open at once, and how many were opened. */
class Plain extends MemoryFs {
  override readonly capabilities: ReadonlySet<Capability> = new Set(['read', 'write', 'link'])
  readonly opened: string[] = []
  open = 0
  mostOpen = 0

  protected override async *doRead(path: string, options: ReadOptions): AsyncGenerator<Uint8Array> {
    if (path.endsWith('/secret')) throw new VfsError('EACCES', path, { op: 'read' })
    this.opened.push(path)
    this.mostOpen = Math.max(this.mostOpen, ++this.open)
    try {
      yield* super.doRead(path, options)
    } finally {
      this.open--
    }
  }
}

async function paths(fs: FileSystem, root: string, pattern: string | RegExp): Promise<string[]> {
  return (await Array.fromAsync(grep(fs, root, pattern))).map(({ path, line }) => `${path}:${line}`)
}

describe('grep', () => {
  it('returns the context of each match, clipped at both ends of the file', async () => {
    const content = lines('a', 'hit 1', 'b', 'hit 2', 'c', 'd')
    for (const fs of [new MemoryFs({ '/f': content }), new Plain({ '/f': content })]) {
      expect(await Array.fromAsync(grep(fs, '/', { pattern: /hit/, before: 2, after: 1 }))).toEqual([
        { path: '/f', line: 2, text: 'hit 1', before: ['a'], after: ['b'] },
        { path: '/f', line: 4, text: 'hit 2', before: ['hit 1', 'b'], after: ['c'] },
      ])
    }
  })

  it('takes a string literally and a pattern as a pattern', async () => {
    const fs = new Plain({ '/f': lines('a.c', 'abc') })
    expect(await paths(fs, '/', 'a.c')).toEqual(['/f:1'])
    expect(await paths(fs, '/', /a.c/)).toEqual(['/f:1', '/f:2'])
  })

  it('reads one file at a time, and only on demand', async () => {
    const fs = new Plain(Object.fromEntries(Array.from({ length: 10 }, (_, i) => [`/f${i}`, 'hit\nhit'])))
    let seen = 0
    for await (const _ of grep(fs, '/', 'hit')) if (++seen === 3) break
    expect(fs.opened).toEqual(['/f0', '/f1'])
    expect([fs.mostOpen, fs.open]).toEqual([1, 0])
  })

  it('skips binary files, links and unreadable files', async () => {
    const fs = new Plain({
      '/a': 'hit',
      '/binary': Uint8Array.of(104, 105, 116, 0),
      '/secret': 'hit',
      '/z': 'hit',
    })
    await fs.symlink('a', '/link')
    expect(await paths(fs, '/', 'hit')).toEqual(['/a:1', '/z:1'])
  })

  it('treats a file with a NUL far from its start as text', async () => {
    const far = `hit\n${'x'.repeat(9000)}\0`
    expect(await paths(new Plain({ '/f': far }), '/', 'hit')).toEqual(['/f:1'])
  })

  it('finds the same with native and with composed search, from any root', async () => {
    const seed = { '/d/f': 'hit', '/d/sub/g': 'miss\r\nhit\r\n', '/top': 'hit' }
    const native = new MemoryFs(seed)
    await native.symlink('d', '/to-directory')
    await native.symlink('d/f', '/to-file')
    const composed = new OverlayFs(native)
    for (const root of ['/', '/d', '/d/', '/top', '//d/./f', '/to-file', '/to-directory', '/d/sub/../f']) {
      const expected = await Array.fromAsync(grep(native, root, 'hit'))
      expect(await Array.fromAsync(grep(composed, root, 'hit')), root).toEqual(expected)
    }
  })

  it('is ENOENT for a missing root, and fails for a single file that cannot be read', async () => {
    const fs = new Plain({ '/secret': 'hit' })
    await expect(paths(fs, '/missing', 'x')).rejects.toMatchObject({ code: 'ENOENT', path: '/missing' })
    await expect(paths(fs, '/secret', 'x')).rejects.toMatchObject({ code: 'EACCES', path: '/secret' })
  })

  it('stops when its signal is aborted', async () => {
    const fs = new Plain({ '/a': 'hit', '/b': 'hit', '/c': 'hit' })
    const controller = new AbortController()
    const search = async () => {
      for await (const _ of grep(fs, '/', 'hit', { signal: controller.signal }))
        controller.abort(new Error('enough'))
    }
    await expect(search).rejects.toThrow('enough')
    expect(fs.opened).toEqual(['/a'])
  })
})
