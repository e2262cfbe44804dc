import { describe, expect, it } from 'vitest'
import { type FileSystem, glob, MountTable, readFile, readText } from '../../vfs/index.ts'
import { openHome, type Vault } from './index.ts'

/** A vault with a past: `/f` and `/d/g` changed since the checkpoint `then`, `/gone` removed. */
async function lived(): Promise<Vault> {
  const vault = await (await openHome()).createVault('base')
  await vault.write('/f', 'first')
  await vault.write('/d/g', new Uint8Array(100_000).fill(1))
  await vault.write('/gone', 'x')
  await vault.symlink('f', '/link')
  await vault.symlink('/d', '/to-d')
  await vault.checkpoint('then')
  await vault.write('/f', 'second', {}, { caller: { kind: 'context', context: 'alice' } })
  await vault.write('/d/g', 'small')
  await vault.remove('/gone')
  return vault
}

const names = async (fs: FileSystem, path: string) => Array.fromAsync(fs.readdir(path), ({ name }) => name)
const paths = async (fs: FileSystem, root: string) => Array.fromAsync(fs.walk(root), ({ path }) => path)

describe('the history of a vault as paths', () => {
  it('is not listed in the root, but can be opened', async () => {
    const vault = await lived()
    expect(await names(vault, '/')).toEqual(['d', 'f', 'link', 'to-d'])
    expect(await paths(vault, '/')).toEqual(['/d/g', '/f', '/link', '/to-d'])
    expect((await vault.stat('/.coppice')).type).toBe('directory')
    expect(await names(vault, '/.coppice')).toEqual(['at', 'diff', 'log'])
    expect(await names(vault, '/.coppice/at')).toEqual(['then'])
    for (const path of [
      '/.coppice',
      '/.coppice/at',
      '/.coppice/at/then',
      '/.coppice/at/then/d',
      '/.coppice/log',
    ])
      expect([path, await vault.exists(path)]).toEqual([path, true])
    for (const path of ['/.coppice/x', '/.coppice/at/never', '/.coppice/at/then/x', '/.coppice/log/x'])
      expect([path, await vault.exists(path)]).toEqual([path, false])
  })

  it('reads a checkpoint as it was, with its sizes, ranges and links', async () => {
    const vault = await lived()
    const then = '/.coppice/at/then'
    expect(await readText(vault, `${then}/f`)).toBe('first')
    expect(await readText(vault, '/f')).toBe('second')
    expect(await readText(vault, `${then}/gone`)).toBe('x')
    expect(await readText(vault, `${then}/link`)).toBe('first')
    expect((await readFile(vault, `${then}/to-d/g`)).length).toBe(100_000)
    expect((await vault.stat(`${then}/d/g`)).size).toBe(100_000)
    expect((await vault.stat(`${then}/link`)).type).toBe('symlink')
    const part = await Array.fromAsync(vault.read(`${then}/d/g`, { byteRange: [99_990, 100_000] }))
    expect(Buffer.concat(part).length).toBe(10)
    expect(await paths(vault, then)).toEqual([
      `${then}/d/g`,
      `${then}/f`,
      `${then}/gone`,
      `${then}/link`,
      `${then}/to-d`,
    ])
    expect(await paths(vault, '/.coppice')).toContain(`${then}/d/g`)
    expect(await Array.fromAsync(glob(vault, '/.coppice/at/*/d/*'), ({ path }) => path)).toEqual([
      `${then}/d/g`,
    ])
  })

  it('is not nested, and does not match similar names', async () => {
    const vault = await lived()
    expect(await vault.exists('/.coppice/at/then/.coppice')).toBe(false)
    await vault.write('/.coppices', 'a file')
    await vault.write('/d/.coppice', 'another')
    expect(await readText(vault, '/.coppices')).toBe('a file')
    expect(await names(vault, '/d')).toEqual(['.coppice', 'g'])
  })

  it('shows the changes and their authors as text', async () => {
    const home = await openHome()
    const base = await home.createVault('base')
    for (const path of ['/f', '/gone', '/old']) await base.write(path, path)
    const task = await home.fork('base', 'task')
    await task.write('/f', 'changed', {}, { caller: { kind: 'context', context: 'alice' } })
    await task.remove('/gone')
    await task.rename('/old', '/new')
    expect(await readText(task, '/.coppice/diff')).toBe(
      'modified\t/f\ndeleted\t/gone\nrenamed\t/old -> /new\n',
    )
    const lines = (await readText(task, '/.coppice/log')).trimEnd().split('\n')
    expect(lines.map((line) => line.split('\t').slice(2).join(' '))).toEqual([
      'alice write /f',
      '- remove /gone',
      '- rename /old -> /new',
    ])
    expect((await task.stat('/.coppice/diff')).size).toBe((await readFile(task, '/.coppice/diff')).length)
    expect(await readText(base, '/.coppice/diff')).toBe('')
    await base.checkpoint('now')
    await base.remove('/f')
    expect(await readText(base, '/.coppice/diff')).toBe('deleted\t/f\n')
  })

  it('cannot be changed in any way', async () => {
    const vault = await lived()
    const before = await paths(vault, '/')
    const file = '/.coppice/at/then/f'
    const changes: Readonly<Record<string, (path: string) => Promise<unknown>>> = {
      write: (path) => vault.write(path, 'x'),
      mkdir: (path) => vault.mkdir(path, { parents: true }),
      remove: (path) => vault.remove(path, { recursive: true }),
      append: (path) => vault.append(path, 'x'),
      symlink: (path) => vault.symlink('x', path),
      'rename from': (path) => vault.rename(path, '/elsewhere'),
      'open to write': (path) => vault.open(path, { write: true }),
      'open to create': (path) => vault.open(path, { create: true }),
    }
    for (const [what, change] of Object.entries(changes)) {
      for (const path of ['/.coppice', '/.coppice/new', '/.coppice/at', '/.coppice/log', file, `${file}/x`]) {
        const outcome = await change(path).then(
          () => 'done',
          (error: { code?: string }) => error.code,
        )
        expect([what, path, outcome]).toEqual([what, path, 'EROFS'])
      }
    }
    expect(await paths(vault, '/')).toEqual(before)
    expect(await readText(vault, file)).toBe('first')
  })

  it('cannot be the target of a move', async () => {
    const vault = await lived()
    await expect(vault.rename('/f', '/.coppice/f')).rejects.toMatchObject({ code: 'EROFS' })
    await expect(vault.rename('/f', '/.coppice')).rejects.toMatchObject({ code: 'EROFS' })
    expect(await names(vault, '/')).toEqual(['d', 'f', 'link', 'to-d'])
  })

  it('is not written through a link, and a link to it can be removed', async () => {
    const vault = await lived()
    await vault.symlink('/.coppice', '/past')
    await vault.symlink('.coppice/new', '/new')
    for (const path of ['/past/f', '/past/at/then/f', '/new']) {
      await expect(vault.write(path, 'x')).rejects.toMatchObject({ code: 'EROFS' })
      await expect(vault.append(path, 'x')).rejects.toMatchObject({ code: 'EROFS' })
    }
    await expect(vault.mkdir('/past/d')).rejects.toMatchObject({ code: 'EROFS' })
    await expect(vault.rename('/f', '/past/f')).rejects.toMatchObject({ code: 'EROFS' })
    for (const link of ['/past', '/new']) await vault.remove(link)
    expect(await names(vault, '/')).toEqual(['d', 'f', 'link', 'to-d'])
  })

  it('is no part of the tree: a link into it dangles', async () => {
    const vault = await lived()
    await vault.symlink('/.coppice/at/then', '/then')
    await expect(readText(vault, '/then/f')).rejects.toMatchObject({ code: 'ENOENT', path: '/then/f' })
    expect(await vault.readlink('/then')).toBe('/.coppice/at/then')
  })

  it('can be opened, hashed and resolved like any file', async () => {
    const vault = await lived()
    const then = '/.coppice/at/then'
    expect(await vault.hash(`${then}/f`)).toBe(
      await vault
        .at('then')
        .stat('/f')
        .then(() => vault.hash(`${then}/link`)),
    )
    expect(await vault.readlink(`${then}/link`)).toBe('f')
    await using file = await vault.open(`${then}/f`)
    expect(Buffer.from(await file.read(0, 100)).toString()).toBe('first')
  })

  it('reports errors with the requested path', async () => {
    const vault = await lived()
    const missing = '/.coppice/at/then/missing'
    await expect(vault.stat(missing)).rejects.toMatchObject({ code: 'ENOENT', path: missing })
    await expect(readText(vault, '/.coppice/at')).rejects.toMatchObject({
      code: 'EISDIR',
      path: '/.coppice/at',
    })
    await expect(names(vault, '/.coppice/log')).rejects.toMatchObject({
      code: 'ENOTDIR',
      path: '/.coppice/log',
    })
  })

  it('is reached through a mount, where it is hidden as well', async () => {
    const table = new MountTable({ '/work': await lived() })
    expect(await readText(table, '/work/.coppice/at/then/f')).toBe('first')
    expect(await paths(table, '/')).not.toContain('/work/.coppice/log')
    await expect(table.write('/work/.coppice/x', 'x')).rejects.toMatchObject({ code: 'EROFS' })
  })
})
