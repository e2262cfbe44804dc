import { mkdtempSync, rmSync } from 'node:fs'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { afterAll, describe, expect, it } from 'vitest'
import { readText } from '../../vfs/index.ts'
import { openHome } from './index.ts'

const scratch = mkdtempSync(join(tmpdir(), 'coppice-labels-'))
afterAll(() => rmSync(scratch, { recursive: true, force: true }))

const HOSTILE = [
  '__proto__',
  'constructor',
  '%',
  '_',
  "it's",
  '"quoted"',
  'two\nlines',
  'with space',
  '🌳',
  'a/b',
  '..',
  'é'.repeat(127),
]

const newVault = async () => (await openHome()).createVault('base')

describe('tags', () => {
  it('find the files that have them, and are counted', async () => {
    const vault = await newVault()
    for (const path of ['/b', '/a', '/d/c']) await vault.write(path, 'x')
    await vault.tags.add('/b', ['todo', 'red'])
    await vault.tags.add('/a', ['todo', 'todo'])
    await vault.tags.add('/d', 'todo')
    await vault.tags.add('/d/c', ['tod', 'todo2'])
    expect(await vault.tags.find('todo')).toEqual(['/a', '/b', '/d'])
    expect(await vault.tags.find('tod')).toEqual(['/d/c'])
    expect(await vault.tags.find('never')).toEqual([])
    expect(await vault.tags.of('/b')).toEqual(['red', 'todo'])
    expect(await vault.tags.all()).toEqual([
      { tag: 'red', count: 1 },
      { tag: 'tod', count: 1 },
      { tag: 'todo', count: 3 },
      { tag: 'todo2', count: 1 },
    ])
    await vault.tags.remove('/b', ['todo', 'not there'])
    expect(await vault.tags.find('todo')).toEqual(['/a', '/d'])
  })

  it('stay with a file that is renamed or written, and vanish when it is removed', async () => {
    const vault = await newVault()
    await vault.write('/d/f', 'x')
    await vault.tags.add('/d/f', 'kept')
    await vault.meta.set('/d/f', 'key', 'value')
    await vault.rename('/d', '/e')
    await vault.write('/e/f', 'y')
    await vault.rename('/e/f', '/e/g')
    expect(await vault.tags.find('kept')).toEqual(['/e/g'])
    expect(await vault.meta.all('/e/g')).toEqual({ key: 'value' })
    await vault.remove('/e', { recursive: true })
    expect(await vault.tags.find('kept')).toEqual([])
    expect(await vault.tags.all()).toEqual([])
    await vault.write('/e/g', 'another file')
    expect(await vault.tags.of('/e/g')).toEqual([])
    expect(await vault.meta.all('/e/g')).toEqual({})
  })

  it('and metadata vanish with a file that a rename replaces', async () => {
    const vault = await newVault()
    await vault.write('/a', 'x')
    await vault.write('/b', 'x')
    await vault.tags.add('/a', 'a')
    await vault.tags.add('/b', 'b')
    await vault.rename('/a', '/b', { overwrite: true })
    expect(await vault.tags.of('/b')).toEqual(['a'])
    expect(await vault.tags.all()).toEqual([{ tag: 'a', count: 1 }])
  })

  it('and metadata return with a restore, and diverge after a fork', async () => {
    const home = await openHome()
    const base = await home.createVault('base')
    await base.write('/f', 'x')
    await base.tags.add('/f', 'first')
    await base.meta.set('/f', 'n', '1')
    await base.checkpoint('then')
    const task = await home.fork('base', 'task')
    await base.tags.remove('/f', 'first')
    await base.tags.add('/f', 'second')
    await base.meta.set('/f', 'n', '2')
    expect(await task.tags.of('/f')).toEqual(['first'])
    await task.tags.add('/f', 'third')
    expect(await base.tags.all()).toEqual([{ tag: 'second', count: 1 }])
    await base.restore('then')
    expect(await base.tags.find('first')).toEqual(['/f'])
    expect(await base.tags.find('second')).toEqual([])
    expect(await base.meta.get('/f', 'n')).toBe('1')
  })

  it('may have any name, and survive a reopening of the home', async () => {
    const path = join(scratch, 'hostile')
    const home = await openHome({ path })
    const vault = await home.createVault('base')
    await vault.write('/f', 'x')
    await vault.tags.add('/f', HOSTILE)
    for (const name of HOSTILE) await vault.meta.set('/f', name, `value of ${name}`)
    await home.close()
    const again = await (await openHome({ path })).vault('base')
    expect(await again.tags.of('/f')).toEqual([...HOSTILE].sort())
    const all = await again.meta.all('/f')
    expect(Object.getPrototypeOf(all)).toBe(Object.prototype)
    expect(Object.keys(all).sort()).toEqual([...HOSTILE].sort())
    for (const name of HOSTILE) {
      expect(await again.tags.find(name)).toEqual(['/f'])
      expect(await again.meta.get('/f', name)).toBe(`value of ${name}`)
      await again.tags.remove('/f', name)
      await again.meta.remove('/f', name)
    }
    expect(await again.tags.all()).toEqual([])
    expect(await again.meta.all('/f')).toEqual({})
  })

  it('reject an empty or unstorable name, and a missing file', async () => {
    const vault = await newVault()
    await vault.write('/f', 'x')
    for (const name of ['', 'nul\0', 'x'.repeat(256), 'é'.repeat(128), 'half \ud800']) {
      await expect(vault.tags.add('/f', ['good', name])).rejects.toMatchObject({ code: 'EINVAL' })
      await expect(vault.meta.set('/f', name, 'x')).rejects.toMatchObject({ code: 'EINVAL' })
    }
    await expect(vault.meta.set('/f', 'key', 'half \udc00')).rejects.toMatchObject({ code: 'EINVAL' })
    expect(await vault.tags.of('/f')).toEqual([])
    expect(await vault.meta.all('/f')).toEqual({})
    for (const missing of [
      () => vault.tags.add('/never', 'x'),
      () => vault.tags.remove('/never', 'x'),
      () => vault.tags.of('/never'),
      () => vault.meta.set('/never', 'k', 'v'),
      () => vault.meta.get('/never', 'k'),
      () => vault.meta.remove('/never', 'k'),
    ])
      await expect(missing()).rejects.toMatchObject({ code: 'ENOENT' })
  })
})

describe('metadata', () => {
  it('is set, replaced and removed key by key', async () => {
    const vault = await newVault()
    await vault.mkdir('/d')
    await vault.meta.set('/d', 'a', '1')
    await vault.meta.set('/d', 'b', '')
    await vault.meta.set('/d', 'a', 'x'.repeat(100_000))
    expect(await vault.meta.get('/d', 'a')).toBe('x'.repeat(100_000))
    expect(await vault.meta.get('/d', 'b')).toBe('')
    expect(await vault.meta.get('/d', 'toString')).toBeUndefined()
    await vault.meta.remove('/d', 'a')
    await vault.meta.remove('/d', 'never')
    expect(await vault.meta.all('/d')).toEqual({ b: '' })
    await vault.meta.set('/', 'of', 'the root')
    expect(await vault.meta.all('/')).toEqual({ of: 'the root' })
  })

  it('is recorded in the journal with its author', async () => {
    const vault = await newVault()
    const alice = { caller: { kind: 'context', context: 'alice' }, trace: 't' } as const
    await vault.write('/f', 'x')
    await vault.meta.set('/f', 'k', 'v', alice)
    await vault.tags.add('/f', 'tag')
    expect((await Array.fromAsync(vault.journal())).slice(1)).toMatchObject([
      { op: 'meta', path: '/f', ...alice },
      { op: 'tag', path: '/f' },
    ])
  })
})

it('hundreds of tags in a vault that has files already are there when it is opened again', async () => {
  const path = join(scratch, 'many')
  const names = Array.from({ length: 300 }, (_, index) => `/file-${index}`)
  {
    await using home = await openHome({ path })
    const vault = await home.createVault('base')
    await Promise.all(names.map((name) => vault.write(name, name)))
    await vault.checkpoint('files')
    for (const [index, name] of names.entries()) await vault.tags.add(name, `tag-${index}`)
    await vault.checkpoint('tags')
  }
  await using home = await openHome({ path })
  const vault = await home.vault('base')
  expect(await vault.tags.all()).toHaveLength(names.length)
  expect(await readText(vault, '/file-299')).toBe('/file-299')
  expect((await home.fsck()).damaged).toEqual([])
})
