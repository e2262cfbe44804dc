import { mkdtempSync, rmSync } from 'node:fs'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { afterAll, describe, expect, it } from 'vitest'
import { readText } from '../../vfs/index.ts'
import { openHome, type Vault } from './index.ts'

const scratch = mkdtempSync(join(tmpdir(), 'coppice-quota-'))
afterAll(() => rmSync(scratch, { recursive: true, force: true }))

const refused = { code: 'ENOSPC' }
const newVault = async () => (await openHome()).createVault('base')
const stateOf = async (vault: Vault) =>
  Array.fromAsync(vault.walk('/', { includeDirs: true }), ({ path, stat }) => `${path} ${stat.size}`)

describe('a quota', () => {
  it('limits the bytes of a vault, and counts only the difference of an overwrite', async () => {
    const vault = await newVault()
    await vault.quota.set({ bytes: 1000 })
    await vault.write('/a', 'x'.repeat(600))
    await vault.write('/a', 'y'.repeat(900))
    await expect(vault.write('/b', 'x'.repeat(101))).rejects.toMatchObject(refused)
    await vault.write('/b', 'x'.repeat(100))
    await vault.write('/a', 'z'.repeat(900))
    await expect(vault.append('/b', 'x')).rejects.toMatchObject(refused)
    await using file = await vault.open('/b', { write: true })
    await expect(file.write(99, Buffer.from('ab'))).rejects.toMatchObject(refused)
    await expect(file.truncate(5000)).rejects.toMatchObject(refused)
    await file.write(99, Buffer.from('b'))
    await vault.remove('/a')
    await vault.append('/b', 'x'.repeat(900))
    expect(await vault.quota.usage()).toMatchObject({ files: 1, bytes: 1000 })
  })

  it('limits the number of files and links, and the size of each', async () => {
    const vault = await newVault()
    await vault.quota.set({ files: 2, fileSize: 10 })
    await vault.mkdir('/directories/are/free', { parents: true })
    await vault.write('/a', 'x')
    await vault.symlink('a', '/link')
    await expect(vault.write('/b', 'x')).rejects.toMatchObject(refused)
    await expect(vault.symlink('a', '/other')).rejects.toMatchObject(refused)
    await vault.rename('/a', '/b')
    await expect(vault.write('/b', 'x'.repeat(11))).rejects.toMatchObject(refused)
    await vault.write('/b', 'x'.repeat(10))
    await expect(vault.append('/b', 'x')).rejects.toMatchObject(refused)
    await vault.remove('/link')
    await vault.write('/c', 'x')
  })

  it('lets a vault over the limit shrink, but not grow', async () => {
    const vault = await newVault()
    await vault.write('/a', 'x'.repeat(500))
    await vault.write('/b', 'x')
    await vault.quota.set({ bytes: 100, files: 1 })
    expect(await readText(vault, '/a')).toBe('x'.repeat(500))
    await vault.write('/a', 'x'.repeat(400))
    await expect(vault.write('/a', 'x'.repeat(401))).rejects.toMatchObject(refused)
    await vault.remove('/b')
    await expect(vault.write('/c', 'x')).rejects.toMatchObject(refused)
  })

  it('rejects without changes, also a stream, a merge, a revert or a restore', async () => {
    const home = await openHome()
    const vault = await home.createVault('base')
    await vault.write('/large', 'x'.repeat(900))
    await vault.checkpoint('large')
    const task = await home.fork('base', 'task')
    await task.write('/d/new', 'x'.repeat(500))
    const [old] = await Array.fromAsync(vault.versions('/large'))
    await vault.write('/large', 'x')
    await vault.quota.set({ bytes: 300 })
    const before = await stateOf(vault)
    const stream = async function* () {
      for (let part = 0; part < 10; part++) yield 'x'.repeat(100)
    }
    await expect(vault.write('/deep/er/stream', stream())).rejects.toMatchObject(refused)
    await expect(home.merge('task', 'base')).rejects.toMatchObject(refused)
    await expect(vault.revert('/large', old?.version ?? '')).rejects.toMatchObject(refused)
    await expect(vault.restore('large')).rejects.toMatchObject(refused)
    expect(await stateOf(vault)).toEqual(before)
    expect((await home.fsck()).damaged).toEqual([])
  })

  it('rejects only the excess of many concurrent writes', async () => {
    const vault = await newVault()
    await vault.quota.set({ bytes: 1000, fileSize: 500 })
    const sizes = [400, 600, 300, 501, 200, 700, 100, 1]
    const outcomes = await Promise.allSettled(
      sizes.map((size) => vault.write(`/d${size}/f`, 'x'.repeat(size))),
    )
    expect(outcomes.map(({ status }) => status === 'fulfilled')).toEqual([
      true,
      false,
      true,
      false,
      true,
      false,
      true,
      false,
    ])
    expect(await stateOf(vault)).toEqual([
      '/d100 0',
      '/d100/f 100',
      '/d200 0',
      '/d200/f 200',
      '/d300 0',
      '/d300/f 300',
      '/d400 0',
      '/d400/f 400',
    ])
  })

  it('applies in other homes on the same store, and in forks', async () => {
    const path = join(scratch, 'shared')
    const [one, other] = [await openHome({ path }), await openHome({ path })]
    const mine = await one.createVault('base')
    const theirs = await other.vault('base')
    await theirs.write('/before', 'x')
    await mine.quota.set({ bytes: 10 })
    await expect(theirs.write('/f', 'x'.repeat(11))).rejects.toMatchObject(refused)
    expect(await theirs.quota.get()).toEqual({ bytes: 10 })
    await theirs.checkpoint('then')
    for (const fork of [await other.fork('base', 'task'), await one.fork('base', 'past', { at: 'then' })]) {
      expect(await fork.quota.get()).toEqual({ bytes: 10 })
      await expect(fork.write('/f', 'x'.repeat(11))).rejects.toMatchObject(refused)
    }
    await theirs.quota.set({})
    expect(await mine.quota.get()).toEqual({})
    await mine.write('/f', 'x'.repeat(11))
    await expect((await one.vault('task')).write('/f', 'x'.repeat(11))).rejects.toMatchObject(refused)
    await one.close()
    await other.close()
    const again = await openHome({ path })
    expect(await (await again.vault('task')).quota.get()).toEqual({ bytes: 10 })
    await again.close()
  })

  it('applies to the first operation in a fork and after a reopening', async () => {
    const path = join(scratch, 'first')
    const home = await openHome({ path })
    const vault = await home.createVault('base')
    await vault.quota.set({ files: 0 })
    await vault.checkpoint('then')
    const fork = await home.fork('base', 'task')
    await expect(fork.write('/f', 'x')).rejects.toMatchObject(refused)
    const past = await home.fork('base', 'past', { at: 'then' })
    await expect(past.write('/f', 'x')).rejects.toMatchObject(refused)
    await home.close()
    const again = await openHome({ path })
    await expect((await again.vault('base')).write('/f', 'x')).rejects.toMatchObject(refused)
    await again.close()
  })

  it('must be an integer from 0', async () => {
    const vault = await newVault()
    for (const bytes of [-1, 1.5, Number.NaN, Number.POSITIVE_INFINITY])
      await expect(vault.quota.set({ bytes })).rejects.toMatchObject({ code: 'EINVAL' })
    expect(await vault.quota.get()).toEqual({})
    await vault.quota.set({ files: 0 })
    await expect(vault.write('/f', '')).rejects.toMatchObject(refused)
  })
})

describe('the usage of a vault', () => {
  const large = (fill: string) => fill.repeat(50_000)

  it('separates shared bytes from its own', async () => {
    const home = await openHome()
    const base = await home.createVault('base')
    await base.write('/a', large('a'))
    expect(await base.quota.usage()).toEqual({
      files: 1,
      bytes: 50_000,
      sharedBytes: 0,
      privateBytes: 50_000,
    })
    const task = await home.fork('base', 'task')
    await task.write('/b', large('b'))
    expect(await task.quota.usage()).toEqual({
      files: 2,
      bytes: 100_000,
      sharedBytes: 50_000,
      privateBytes: 50_000,
    })
    await task.remove('/a')
    expect(await task.quota.usage()).toMatchObject({ sharedBytes: 0, privateBytes: 50_000 })
  })

  it('does not grow when a large file is copied', async () => {
    const home = await openHome()
    const vault = await home.createVault('base')
    await vault.write('/a', large('a'))
    const { blobs } = await home.stats()
    const before = await vault.quota.usage()
    for (const path of ['/b', '/c/d']) await vault.write(path, large('a'))
    expect(await vault.quota.usage()).toEqual({ ...before, files: 3, bytes: 150_000 })
    expect((await home.stats()).blobs).toEqual(blobs)
  })

  it('is its own again when the other vaults are deleted', async () => {
    const home = await openHome()
    const base = await home.createVault('base')
    await base.write('/a', large('a'))
    const task = await home.fork('base', 'task')
    expect(await task.quota.usage()).toMatchObject({ sharedBytes: 50_000, privateBytes: 0 })
    await home.deleteVault('base')
    expect(await task.quota.usage()).toMatchObject({ sharedBytes: 0, privateBytes: 50_000 })
  })

  it('counts what only its own landmarks share as its own', async () => {
    const home = await openHome()
    const vault = await home.createVault('base')
    await vault.write('/a', large('a'))
    for (let row = 0; row < 1100; row++) await vault.write('/small', String(row))
    await home.stats()
    expect(await vault.quota.usage()).toMatchObject({ sharedBytes: 0, privateBytes: 50_004 })
  })

  it('does not count what another vault already had before a merge', async () => {
    const home = await openHome()
    const base = await home.createVault('base')
    await base.write('/a', 'x')
    const task = await home.fork('base', 'task')
    await task.write('/b', large('b'))
    await home.merge('task', 'base')
    await base.remove('/b')
    await home.deleteVault('task')
    const { bytes, sharedBytes, privateBytes } = await base.quota.usage()
    expect([bytes, sharedBytes + privateBytes]).toEqual([1, 1])
  })
})
