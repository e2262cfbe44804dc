import { pipeline } from 'node:stream/promises'
import fastGlob from 'fast-glob'
import type * as FsExtra from 'fs-extra'
import { glob, globSync } from 'glob'
import tar from 'tar-stream'
import unzipper from 'unzipper'
import { afterEach, beforeEach, describe, expect, it } from 'vitest'
import yazl from 'yazl'
import { type NodeFs, nodeFs } from '../../../src/adapters/node-fs/index.ts'
import { type Home, openHome, type Vault } from '../../../src/backends/vault/index.ts'
import { readText } from '../../../src/vfs/index.ts'
import { loadWithFs } from './load-with-fs.ts'

describe('packages on a vault', () => {
  let home: Home
  let vault: Vault
  let fs: NodeFs

  beforeEach(async () => {
    home = await openHome()
    vault = await home.createVault('work')
    fs = nodeFs(vault)
    for (const path of ['/src/a.ts', '/src/deep/b.ts', '/src/deep/c.js', '/README.md']) {
      await vault.write(path, `content of ${path}\n`)
    }
  })

  afterEach(() => home.close())

  it('glob finds files, asynchronously and synchronously', async () => {
    expect((await glob('/src/**/*.ts', { fs })).sort()).toEqual(['/src/a.ts', '/src/deep/b.ts'])
    expect(globSync('**/*.js', { fs, cwd: '/src' })).toEqual(['deep/c.js'])
  })

  it('glob follows a link to a directory on request', async () => {
    await vault.symlink('/src/deep', '/linked')
    expect(await glob('/linked/*.js', { fs })).toEqual(['/linked/c.js'])
    expect(await glob('/linked/*.js', { fs, realpath: true })).toEqual(['/src/deep/c.js'])
  })

  it('fast-glob finds files, asynchronously, synchronously and as a stream', async () => {
    expect((await fastGlob('**/*.ts', { fs, cwd: '/src' })).sort()).toEqual(['a.ts', 'deep/b.ts'])
    expect(fastGlob.sync('/src/*', { fs, onlyFiles: false }).sort()).toEqual(['/src/a.ts', '/src/deep'])
    const stats = fastGlob.sync('/src/a.ts', { fs, stats: true })
    expect(stats.map(({ stats: found }) => found?.size)).toEqual([21])
    expect(await Array.fromAsync(fastGlob.stream('**/*.js', { fs, cwd: '/src' }))).toEqual(['deep/c.js'])
  })

  it('fs-extra creates, copies, moves, empties and removes', async () => {
    const extra = fsExtraOn(fs)
    await extra.outputFile('/new/deep/file.txt', 'made with its parents')
    await extra.outputJson('/new/data.json', { one: 1 })
    expect(await extra.readJson('/new/data.json')).toEqual({ one: 1 })
    await extra.copy('/new', '/copy', { preserveTimestamps: true })
    await extra.move('/copy/deep', '/moved')
    expect(await readText(vault, '/moved/file.txt')).toBe('made with its parents')
    await expect(extra.move('/src', '/moved')).rejects.toThrow('dest already exists.')
    await extra.ensureLink('/README.md', '/links/hard')
    await extra.ensureSymlink('/README.md', '/links/soft')
    expect(extra.readdirSync('/links')).toEqual(['hard', 'soft'])
    await extra.emptyDir('/links')
    await extra.remove('/new')
    expect(await extra.pathExists('/new')).toBe(false)
    expect(extra.existsSync('/links')).toBe(true)
    extra.copySync('/src', '/again', { filter: (path) => !path.endsWith('.js') })
    expect(extra.readdirSync('/again/deep')).toEqual(['b.ts'])
    extra.moveSync('/again', '/end')
    extra.outputJsonSync('/end/x.json', [])
    expect(extra.readJsonSync('/end/x.json')).toEqual([])
  })

  it('fs-extra does not copy a tree into itself', async () => {
    await expect(fsExtraOn(fs).copy('/src', '/src/deep/copy')).rejects.toThrow('subdirectory of itself')
    expect(await fs.promises.readdir('/src/deep')).toEqual(['b.ts', 'c.js'])
  })

  it('unzipper reads an archive that yazl wrote, both in the vault', async () => {
    const zip = new yazl.ZipFile()
    const large = Buffer.alloc(300_000, 'abc')
    zip.addBuffer(Buffer.from('one\n'), 'one.txt')
    zip.addBuffer(large, 'deep/large.bin')
    zip.end()
    await pipeline(zip.outputStream, fs.createWriteStream('/archive.zip'))

    const entries = fs.createReadStream('/archive.zip').pipe(unzipper.Parse({ forceStream: true }))
    await fs.promises.mkdir('/out/deep', { recursive: true })
    for await (const entry of entries) await pipeline(entry, fs.createWriteStream(`/out/${entry.path}`))
    expect(await readText(vault, '/out/one.txt')).toBe('one\n')
    expect(await fs.promises.readFile('/out/deep/large.bin')).toEqual(large)
  })

  it('tar-stream reads an archive that it wrote, both in the vault', async () => {
    const pack = tar.pack()
    for (const name of fs.readdirSync('/src/deep')) {
      pack.entry({ name, mtime: new Date(0) }, fs.readFileSync(`/src/deep/${name}`))
    }
    pack.finalize()
    await pipeline(pack, fs.createWriteStream('/archive.tar'))

    await fs.promises.mkdir('/untarred')
    const extract = tar.extract()
    fs.createReadStream('/archive.tar', { highWaterMark: 100 }).pipe(extract)
    for await (const entry of extract) {
      const path = `/untarred/${entry.header.name}`
      await pipeline(entry, fs.createWriteStream(path))
      await fs.promises.utimes(path, 0, entry.header.mtime ?? 0)
    }
    expect(await readText(vault, '/untarred/c.js')).toBe('content of /src/deep/c.js\n')
    expect(fs.statSync('/untarred/b.ts').mtimeMs).toBe(0)
  })
})

/** fs-extra requires `fs` itself. */
function fsExtraOn(fs: NodeFs): typeof FsExtra {
  const loaded = loadWithFs('fs-extra', fs, ['fs-extra', 'jsonfile'])
  assertFsExtra(loaded)
  return loaded
}

function assertFsExtra(loaded: unknown): asserts loaded is typeof FsExtra {
  if (typeof loaded !== 'object' || loaded === null || !('outputFile' in loaded))
    throw new Error('no fs-extra')
}
