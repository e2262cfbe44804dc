import * as host from 'node:fs'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { afterEach, beforeEach, describe, expect, it } from 'vitest'
import { createTemporaryName } from '../../machine/index.ts'
import { hash, readText, VfsError } from '../../vfs/index.ts'
import { HostFs } from './index.ts'

let root: string
let fs: HostFs

beforeEach(() => {
  root = host.mkdtempSync(join(tmpdir(), 'host-write-'))
  fs = new HostFs(root)
})

afterEach(async () => {
  await fs.close()
  host.rmSync(root, { recursive: true, force: true })
})

async function* chunksThen(last: () => void): AsyncGenerator<Uint8Array> {
  for (let count = 0; count < 5; count++) yield new Uint8Array(100_000).fill(count)
  last()
}

describe('a write', () => {
  it.each([3, 300_000])(
    'with the durability of the process stores all %i bytes and replaces',
    async (size) => {
      await using quick = new HostFs(root, { durability: 'process' })
      await quick.write('/f', 'old')
      await quick.write('/f', 'x'.repeat(size))
      expect(await readText(fs, '/f')).toBe('x'.repeat(size))
      expect(host.readdirSync(root)).toEqual(['f'])
    },
  )

  it('leaves the old file and nothing else behind when its source fails', async () => {
    await fs.write('/f', 'old')
    const failure = new VfsError('ENOENT', '/elsewhere')
    const writing = fs.write(
      '/f',
      chunksThen(() => {
        throw failure
      }),
    )
    await expect(writing).rejects.toBe(failure)
    expect(await readText(fs, '/f')).toBe('old')
    expect(host.readdirSync(root)).toEqual(['f'])
  })

  it('leaves the old file and nothing else behind when it is aborted', async () => {
    await fs.write('/f', 'old')
    const abort = new AbortController()
    const content = chunksThen(() => abort.abort(new Error('no longer wanted')))
    await expect(fs.write('/f', content, {}, { signal: abort.signal })).rejects.toThrow('no longer wanted')
    expect(await readText(fs, '/f')).toBe('old')
    expect(host.readdirSync(root)).toEqual(['f'])
  })

  it('leaves nothing behind when its directory is removed meanwhile', async () => {
    await fs.mkdir('/d')
    const content = chunksThen(() => host.rmSync(join(root, 'd'), { recursive: true }))
    await expect(fs.write('/d/f', content)).rejects.toMatchObject({
      code: 'ENOENT',
      op: 'write',
      path: '/d/f',
    })
    expect(host.readdirSync(root)).toEqual([])
  })

  it('stores the bytes at the time of the call', async () => {
    const bytes = new Uint8Array(100_000).fill(1)
    const writing = fs.write('/f', bytes)
    bytes.fill(2)
    await writing
    expect(new Set(host.readFileSync(join(root, 'f')))).toEqual(new Set([1]))
  })

  it('keeps the permissions of the replaced file unless others are given', async () => {
    await fs.write('/f', 'one', { mode: 0o4750 })
    await fs.write('/f', 'two')
    expect((await fs.stat('/f')).mode).toBe(0o4750)
    await fs.write('/f', 'three', { mode: 0o600 })
    expect((await fs.stat('/f')).mode).toBe(0o600)
  })

  it('replaces the target of a link, not the link', async () => {
    await fs.write('/d/f', 'one')
    await fs.symlink('d/f', '/l')
    await fs.write('/l', 'two')
    expect(await fs.readlink('/l')).toBe('d/f')
    expect(await readText(fs, '/d/f')).toBe('two')
  })

  it('does not change a stream that was opened before, started or not', async () => {
    await fs.write('/f', 'old')
    const reading = fs.read('/f')
    await fs.write('/f', 'new')
    expect(Buffer.concat(await Array.fromAsync(reading)).toString()).toBe('old')
  })
})

describe('ifMatch', () => {
  it('detects a change by another process while the content still streams', async () => {
    await fs.write('/f', 'old')
    const ifMatch = await hash(fs, '/f')
    const content = chunksThen(() => host.writeFileSync(join(root, 'f'), 'theirs'))
    await expect(fs.write('/f', content, { ifMatch })).rejects.toMatchObject({ code: 'ECONFLICT' })
    expect(host.readFileSync(join(root, 'f'), 'utf8')).toBe('theirs')
    expect(host.readdirSync(root)).toEqual(['f'])
  })

  it('null never replaces a file that another process creates while the content still streams', async () => {
    const content = chunksThen(() => host.writeFileSync(join(root, 'f'), 'theirs'))
    await expect(fs.write('/f', content, { ifMatch: null })).rejects.toMatchObject({ code: 'ECONFLICT' })
    expect(host.readFileSync(join(root, 'f'), 'utf8')).toBe('theirs')
    expect(host.readdirSync(root)).toEqual(['f'])
  })

  it('creates no directories for a rejected write', async () => {
    await expect(fs.write('/a/b/f', '', { ifMatch: 'abc' })).rejects.toMatchObject({ code: 'ECONFLICT' })
    expect(host.readdirSync(root)).toEqual([])
  })
})

describe('a temporary file of a dead writer', () => {
  const left = createTemporaryName()

  beforeEach(async () => {
    await fs.write('/d/f', 'kept')
    host.writeFileSync(join(root, 'd', left), 'half of')
  })

  it('is neither listed, walked nor found', async () => {
    expect(await Array.fromAsync(fs.readdir('/d'))).toEqual([{ name: 'f', type: 'file' }])
    expect((await Array.fromAsync(fs.walk('/'))).map(({ path }) => path)).toEqual(['/d/f'])
    expect(await fs.exists(`/d/${left}`)).toBe(false)
    await expect(readText(fs, `/d/${left}`)).rejects.toMatchObject({ code: 'ENOENT' })
    await expect(fs.write(`/d/${left}`, '')).rejects.toMatchObject({ code: 'EINVAL' })
  })

  it('does not prevent the removal of its directory', async () => {
    await fs.remove('/d', { recursive: true })
    expect(host.readdirSync(root)).toEqual([])
  })
})
