import { describe, expect, it } from 'vitest'
import { MemoryFs, MountTable, readText } from '../../vfs/index.ts'
import { createToolRegistry } from '../tool-registry.ts'

function on(fs: MemoryFs | MountTable): (name: string, args: object) => Promise<string> {
  const tools = createToolRegistry({ fs })
  return async (name, args) => (await tools.call(name, args)).text
}

describe('vfs_list', () => {
  const call = on(new MemoryFs({ '/d/a.txt': 'abc', '/d/sub/deep/b': '', '/empty/x/y': '' }))

  it('marks directories by a slash, and shows sizes on request', async () => {
    expect(await call('vfs_list', { path: 'vfs:///d' })).toBe('a.txt\nsub/')
    expect(await call('vfs_list', { path: 'vfs:///d', sizes: true })).toBe('a.txt\t3\nsub/')
    expect(await call('vfs_list', { path: 'vfs:///' })).toBe('d/\nempty/')
  })

  it('lists down to the requested depth', async () => {
    expect(await call('vfs_list', { path: 'vfs:///d', depth: 3 })).toBe('a.txt\nsub/\nsub/deep/\nsub/deep/b')
    expect(await call('vfs_list', { path: 'vfs:///d', depth: 3, sizes: true })).toBe(
      'a.txt\t3\nsub/\nsub/deep/\nsub/deep/b\t0',
    )
  })

  it('distinguishes an empty directory from a file and a missing path', async () => {
    const fs = new MemoryFs({ '/f': '' })
    await fs.mkdir('/none')
    const other = on(fs)
    expect(await other('vfs_list', { path: 'vfs:///none' })).toBe('vfs:///none is empty')
    expect(await other('vfs_list', { path: 'vfs:///f' })).toBe("ENOTDIR: not a directory, list 'vfs:///f'")
    expect(await other('vfs_list', { path: 'vfs:///nope' })).toContain('ENOENT')
  })

  it('follows a link to a directory', async () => {
    const fs = new MemoryFs({ '/d/a': 'x' })
    await fs.symlink('/d', '/link')
    expect(await on(fs)('vfs_list', { path: 'vfs:///link' })).toBe('a')
  })
})

describe('vfs_info', () => {
  it('shows kind, size, time and version of a file', async () => {
    const fs = new MemoryFs({ '/f': '' })
    const { mtime } = await fs.stat('/f')
    expect((await on(fs)('vfs_info', { path: 'vfs:///f' })).split('\n')).toEqual([
      'path: vfs:///f',
      'kind: file',
      'size: 0 bytes',
      `modified: ${mtime.toISOString()}`,
      'mode: 0644',
      'sha256: e3b0c44298fc1c149afbf4c8996fb92427ae41e4649b934ca495991b7852b855',
    ])
  })

  it('counts the entries of a directory, and shows the target of a link', async () => {
    const fs = new MemoryFs({ '/d/a': '', '/d/b': '' })
    await fs.symlink('/d/a', '/link')
    expect(await on(fs)('vfs_info', { path: 'vfs:///d' })).toContain('entries: 2')
    expect(await on(fs)('vfs_info', { path: 'vfs:///link' })).toContain('kind: symlink')
    expect(await on(fs)('vfs_info', { path: 'vfs:///link' })).toContain('target: /d/a')
  })
})

describe('vfs_copy and vfs_move', () => {
  it('copy and move files and trees, and keep or remove the source', async () => {
    const fs = new MemoryFs({ '/d/a': '1', '/d/sub/b': '2' })
    const call = on(fs)
    expect(await call('vfs_copy', { src: 'vfs:///d', dst: 'vfs:///e' })).toBe('copied vfs:///d to vfs:///e')
    expect(await readText(fs, '/e/sub/b')).toBe('2')
    expect(await call('vfs_move', { src: 'vfs:///d', dst: 'vfs:///g' })).toBe('moved vfs:///d to vfs:///g')
    expect(await fs.exists('/d')).toBe(false)
    expect(await readText(fs, '/g/a')).toBe('1')
  })

  it.each(['vfs_copy', 'vfs_move'])('%s replaces an existing target only on request', async (name) => {
    const fs = new MemoryFs({ '/a': '1', '/b': '2' })
    const args = { src: 'vfs:///a', dst: 'vfs:///b' }
    expect(await on(fs)(name, args)).toMatch(/^EEXIST: .*pass overwrite: true/)
    expect(await readText(fs, '/b')).toBe('2')
    await on(fs)(name, { ...args, overwrite: true })
    expect(await readText(fs, '/b')).toBe('1')
  })

  it('move from one mount to another', async () => {
    const [one, other] = [new MemoryFs({ '/d/f': 'x' }), new MemoryFs()]
    const call = on(new MountTable({ '/one': one, '/other': other }))
    await call('vfs_move', { src: 'vfs:///one/d', dst: 'vfs:///other/d' })
    expect(await readText(other, '/d/f')).toBe('x')
    expect(await one.exists('/d')).toBe(false)
  })

  it.each(['vfs_copy', 'vfs_move'])('%s refuses to go into itself', async (name) => {
    const fs = new MemoryFs({ '/d/f': 'x' })
    expect(await on(fs)(name, { src: 'vfs:///d', dst: 'vfs:///d/e' })).toContain('EINVAL')
    expect(await readText(fs, '/d/f')).toBe('x')
  })
})

describe('vfs_mkdir and vfs_delete', () => {
  it('creates missing directories, and accepts an existing one', async () => {
    const fs = new MemoryFs({ '/f': '' })
    for (let round = 0; round < 2; round++) {
      expect(await on(fs)('vfs_mkdir', { path: 'vfs:///a/b' })).toBe('vfs:///a/b is a directory')
    }
    expect((await fs.stat('/a/b')).type).toBe('directory')
    expect(await on(fs)('vfs_mkdir', { path: 'vfs:///f' })).toMatch(/^E(?:EXIST|NOTDIR)/)
  })

  it('deletes a directory only with recursive', async () => {
    const fs = new MemoryFs({ '/d/f': '', '/g': '' })
    expect(await on(fs)('vfs_delete', { path: 'vfs:///d' })).toMatch(/^EISDIR: .*pass recursive: true/)
    expect(await fs.exists('/d/f')).toBe(true)
    expect(await on(fs)('vfs_delete', { path: 'vfs:///d', recursive: true })).toBe('deleted vfs:///d')
    expect(await on(fs)('vfs_delete', { path: 'vfs:///g' })).toBe('deleted vfs:///g')
    expect(await Array.fromAsync(fs.readdir('/'))).toEqual([])
    expect(await on(fs)('vfs_delete', { path: 'vfs:///g' })).toContain('ENOENT')
  })

  it('never deletes the root', async () => {
    const fs = new MemoryFs({ '/f': '' })
    expect(await on(fs)('vfs_delete', { path: 'vfs:///', recursive: true })).toContain('EINVAL')
    expect(await fs.exists('/f')).toBe(true)
  })
})
