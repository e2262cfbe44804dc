import fc from 'fast-check'
import { describe, expect, it } from 'vitest'
import { fileSystemSuite } from '../../conformance/index.ts'
import {
  diff,
  type FileSystem,
  MountTable,
  openFile,
  type PathChange,
  readFile,
  readText,
} from '../../vfs/index.ts'
import { openHome, type Vault } from './index.ts'

const listChanges = async (changes: AsyncIterable<PathChange>) =>
  (await Array.fromAsync(changes)).map(({ kind, path, from }) =>
    [kind, ...(from ? [from] : []), path].join(' '),
  )

fileSystemSuite(
  { describe, it },
  {
    name: 'a vault at a checkpoint',
    create: async (seed) => {
      const vault = await (await openHome()).createVault('base')
      for (const [path, content] of Object.entries(seed)) await vault.write(path, content)
      await vault.checkpoint('then')
      await vault.write('/lines.txt', 'changed since')
      await vault.remove('/docs', { recursive: true }).catch(() => {})
      return vault.at('then')
    },
  },
)

describe('a checkpoint', () => {
  it('keeps the tree, and restore returns to it', async () => {
    const vault = await (await openHome()).createVault('base')
    await vault.write('/a/b', 'first')
    await vault.checkpoint('before', { description: 'as it should be' })
    await vault.write('/a/b', 'second')
    await vault.write('/c', 'new')
    expect(await readText(vault.at('before'), '/a/b')).toBe('first')
    await vault.restore('before')
    expect(await readText(vault, '/a/b')).toBe('first')
    expect(await vault.exists('/c')).toBe(false)
    await vault.write('/d', 'goes on')
    expect(await vault.at('before').exists('/d')).toBe(false)
    expect(await vault.checkpoints()).toMatchObject([{ name: 'before', description: 'as it should be' }])
  })

  it('is named by its time by default, and never twice the same', async () => {
    const vault = await (await openHome()).createVault('base')
    const names = [await vault.checkpoint(), await vault.checkpoint(), await vault.checkpoint()].map(
      ({ name }) => name,
    )
    for (const name of names) expect(name).toMatch(/^checkpoint-\d{8}-\d{6}(-\d+)?$/)
    expect(new Set(names).size).toBe(3)
  })

  it('gets a unique name when many are created at once', async () => {
    const vault = await (await openHome()).createVault('base')
    const taken = await Promise.all(Array.from({ length: 8 }, () => vault.checkpoint()))
    expect(new Set(taken.map(({ name }) => name)).size).toBe(8)
    expect(await vault.checkpoints()).toHaveLength(8)
  })

  it('is EEXIST under a used name, and ENOENT under an unknown one', async () => {
    const vault = await (await openHome()).createVault('base')
    await vault.checkpoint('once')
    await expect(vault.checkpoint('once')).rejects.toMatchObject({ code: 'EEXIST' })
    await expect(vault.checkpoint('../up')).rejects.toMatchObject({ code: 'EINVAL' })
    await expect(vault.restore('never')).rejects.toMatchObject({ code: 'ENOENT' })
    await vault.removeCheckpoint('once')
    await expect(vault.removeCheckpoint('once')).rejects.toMatchObject({ code: 'ENOENT' })
  })
})

describe('the diff of a fork', () => {
  it('lists what was added, modified, deleted and renamed since the fork', async () => {
    await using home = await openHome()
    const base = await home.createVault('base')
    for (const path of ['/keep', '/change', '/gone', '/dir/one', '/dir/two']) await base.write(path, path)
    const task = await home.fork('base', 'task')
    await task.write('/change', 'changed')
    await task.write('/keep', '/keep')
    await task.remove('/gone')
    await task.rename('/dir', '/folder')
    await task.write('/new/file', 'x')
    await task.mkdir('/empty')
    expect(await listChanges(task.diff())).toEqual([
      'modified /change',
      'added /empty',
      'renamed /dir /folder',
      'deleted /gone',
      'added /new/file',
    ])
    await expect(listChanges(base.diff())).rejects.toMatchObject({ code: 'EINVAL' })
  })

  it('finds the same as a full comparison', async () => {
    const path = fc.constantFrom('/a', '/b', '/a/c', '/a/d', '/b/c/d')
    const act = fc.record({
      op: fc.constantFrom('write', 'write', 'mkdir', 'remove'),
      path,
      content: fc.constantFrom('x', 'y'),
    })
    const acts = fc.array(act, { maxLength: 15 })
    const property = fc.asyncProperty(acts, acts, async (first, second) => {
      await using home = await openHome()
      const vault = await home.createVault('base')
      await perform(vault, first)
      await vault.checkpoint('then')
      await perform(vault, second)
      const expected = await listChanges(diff(vault.at('then'), vault))
      expect(await listChanges(vault.diff('then'))).toEqual(expected)
    })
    await fc.assert(property, { numRuns: 100 })
  })
})

describe('the journal', () => {
  it('lists who did what in order, whole or filtered', async () => {
    const vault = await (await openHome()).createVault('base')
    const alice = { caller: { kind: 'context', context: 'alice' } } as const
    await vault.write('/a', 'x', {}, alice)
    await vault.mkdir('/d')
    await vault.rename('/a', '/d/b', {}, alice)
    await vault.write('/missing/deep', 'x', { parents: false }).catch(() => {})
    await vault.remove('/d', { recursive: true })
    const all = await Array.fromAsync(vault.journal())
    expect(all.map(({ seq, op, path, to }) => [seq, op, path, ...(to ? [to] : [])])).toEqual([
      [1, 'write', '/a'],
      [2, 'mkdir', '/d'],
      [3, 'rename', '/a', '/d/b'],
      [4, 'remove', '/d'],
    ])
    const seqs = async (filter: Parameters<Vault['journal']>[0]) =>
      (await Array.fromAsync(vault.journal(filter))).map(({ seq }) => seq)
    expect(await seqs({ since: 2 })).toEqual([3, 4])
    expect(await seqs({ caller: alice.caller })).toEqual([1, 3])
    expect(await seqs({ path: '/d' })).toEqual([2, 3, 4])
    expect(await seqs({ op: 'remove' })).toEqual([4])
  })
})

async function perform(
  fs: FileSystem & Vault,
  acts: readonly { op: string; path: string; content: string }[],
) {
  for (const { op, path, content } of acts) {
    const done =
      op === 'write'
        ? fs.write(path, content)
        : op === 'mkdir'
          ? fs.mkdir(path)
          : fs.remove(path, { recursive: true })
    await done.catch(() => {})
  }
}

describe('an open file', () => {
  it('fails with the path at which the vault is mounted, after it was opened too', async () => {
    const table = new MountTable({ '/work': await (await openHome()).createVault('base') })
    await table.write('/work/log', 'one')
    const handle = await openFile(table, '/work/log')
    await expect(handle.write(0, Buffer.from('x'))).rejects.toMatchObject({
      code: 'EBADF',
      path: '/work/log',
    })
    await handle.close()
    await expect(handle.read(0, 1)).rejects.toMatchObject({
      code: 'EBADF',
      path: '/work/log',
      mount: '/work',
    })
  })

  it('refuses what is no bytes, whatever its declared type', async () => {
    const vault = await (await openHome()).createVault('base')
    await vault.write('/log', 'one')
    await using handle = await openFile(vault, '/log', { write: true })
    await expect(Reflect.apply(handle.write, handle, [0, 'two'])).rejects.toMatchObject({
      code: 'EINVAL',
      path: '/log',
    })
    expect(await readText(vault, '/log')).toBe('one')
  })
})

describe('content that ends at the border of a chunk', () => {
  it('stays unchanged when nothing is appended', async () => {
    await using home = await openHome()
    const vault = await home.createVault('base')
    const content = new Uint8Array(32_768).fill(7)
    await vault.write('/f', content)
    await vault.append('/f', '')
    expect(Buffer.from(await readFile(vault, '/f')).equals(content)).toBe(true)
  })

  it('keeps a hole at its end through a merge', async () => {
    await using home = await openHome()
    await home.createVault('base')
    const task = await home.fork('base', 'task')
    await task.write('/f', 'x'.repeat(300))
    await using file = await task.open('/f', { write: true })
    await file.truncate(1000)
    await home.merge('task', 'base')
    const merged = Buffer.from(await readFile(await home.vault('base'), '/f'))
    expect(merged.equals(Buffer.concat([Buffer.alloc(300, 'x'), Buffer.alloc(700)]))).toBe(true)
  })
})
