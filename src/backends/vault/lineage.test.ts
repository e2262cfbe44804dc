import { describe, expect, it } from 'vitest'
import { type FileSystem, readText } from '../../vfs/index.ts'
import { type Home, openHome, type Vault } from './index.ts'

/** Everything a file system holds, as text. */
async function contentOf(fs: FileSystem): Promise<Record<string, string>> {
  const files: [string, string][] = []
  for await (const { path } of fs.walk('/')) files.push([path, await readText(fs, path)])
  return Object.fromEntries(files)
}

async function started(files: Readonly<Record<string, string>> = {}): Promise<{ home: Home; base: Vault }> {
  const home = await openHome()
  const base = await home.createVault('base')
  for (const [path, text] of Object.entries(files)) await base.write(path, text)
  return { home, base }
}

const formatChanges = (changes: readonly { kind: string; path: string }[]) =>
  changes.map(({ kind, path }) => `${kind} ${path}`)
const contentsOf = async (vault: Vault, path: string) => {
  const texts: string[] = []
  for await (const { version } of vault.versions(path))
    texts.push(Buffer.concat(await Array.fromAsync(vault.readVersion(path, version))).toString())
  return texts
}

describe('forks of forks', () => {
  it('start at the base of another fork, whatever both became, and merge from there', async () => {
    const { home, base } = await started({ '/f': 'one\n', '/g': 'one\n' })
    const first = await home.fork('base', 'first')
    await base.write('/f', 'base\n')
    await base.write('/g', 'base\n')
    await first.write('/f', 'first\n')
    const beside = await home.fork('base', 'beside', { baseOf: 'first' })
    expect(await contentOf(beside)).toEqual({ '/f': 'one\n', '/g': 'one\n' })
    expect((await home.info('beside')).from).toMatchObject({ vault: 'base' })
    await beside.write('/f', 'beside\n')
    expect(formatChanges(await Array.fromAsync(beside.diff()))).toEqual(['modified /f'])
    await expect(home.merge('beside', 'base')).rejects.toMatchObject({ code: 'ECONFLICT' })
    await home.merge('beside', 'base', { onConflict: 'theirs' })
    expect(await contentOf(base)).toEqual({ '/f': 'beside\n', '/g': 'base\n' })
    expect((await home.fsck()).damaged).toEqual([])
    await expect(home.fork('base', 'x', { baseOf: 'base' })).rejects.toMatchObject({ code: 'EINVAL' })
    await expect(home.fork('first', 'x', { baseOf: 'beside' })).rejects.toMatchObject({ code: 'EINVAL' })
    await expect(home.fork('base', 'first', { baseOf: 'beside' })).rejects.toMatchObject({ code: 'EEXIST' })
  })

  it('can be compared at any depth', async () => {
    const { home } = await started()
    const task = await home.fork('base', 'task')
    const path = '/a'.repeat(20_000)
    await task.mkdir(path, { parents: true })
    expect(formatChanges(await Array.fromAsync(task.diff()))).toEqual([`added ${path}`])
  })

  it('start at the current state or a checkpoint of their source, and record it', async () => {
    const { home, base } = await started({ '/f': '1' })
    await base.checkpoint('one')
    await base.write('/f', '2')
    const task = await home.fork('base', 'task', { at: 'one' })
    await task.write('/g', '3')
    await task.checkpoint('two')
    await task.remove('/f')
    const deep = await home.fork('task', 'deep', { at: 'two' })
    await deep.write('/h', '4')
    expect(await contentOf(base)).toEqual({ '/f': '2' })
    expect(await contentOf(task)).toEqual({ '/g': '3' })
    expect(await contentOf(deep)).toEqual({ '/f': '1', '/g': '3', '/h': '4' })
    expect(formatChanges(await Array.fromAsync(deep.diff()))).toEqual(['added /h'])
    expect(await home.info('deep')).toMatchObject({
      from: { vault: 'task' },
      files: 3,
      changes: 1,
      checkpoints: 0,
    })
    expect(await home.info('base')).not.toHaveProperty('from')
    const inherited = await Array.fromAsync(
      deep.journal({ inherited: true }),
      ({ op, path }) => `${op} ${path}`,
    )
    expect(inherited).toEqual(['write /f', 'write /g', 'write /h'])
    const newest = await Array.fromAsync(
      deep.journal({ inherited: true, newestFirst: true }),
      ({ path }) => path,
    )
    expect(newest).toEqual(['/h', '/g', '/f'])
  })

  it('keep their history when their source is deleted', async () => {
    const { home, base } = await started({ '/f': 'one' })
    await base.write('/f', 'two')
    const task = await home.fork('base', 'task')
    await task.write('/f', 'three')
    const deep = await home.fork('task', 'deep')
    await deep.write('/f', 'four')
    await home.deleteVault('base')
    await home.deleteVault('task')
    expect(await home.vaults()).toEqual(['deep'])
    expect(await contentsOf(deep, '/f')).toEqual(['four', 'three', 'two', 'one'])
    expect(formatChanges(await Array.fromAsync(deep.diff()))).toEqual(['modified /f'])
    await home.gc()
    expect(await contentsOf(deep, '/f')).toEqual(['four', 'three', 'two', 'one'])
    for (const gone of ['base', 'task'])
      await expect(home.vault(gone)).rejects.toMatchObject({ code: 'ENOENT' })
    await expect(home.deleteVault('base')).rejects.toMatchObject({ code: 'ENOENT' })
    await expect(readText(base, '/f')).rejects.toMatchObject({ code: 'ENOENT' })
  })

  it('cannot be written to after the vault is deleted', async () => {
    const { home, base } = await started({ '/f': 'one' })
    await home.deleteVault('base')
    await expect(base.write('/f', 'x')).rejects.toMatchObject({ code: 'ENOENT' })
  })

  it('differ from a later vault with the name of a deleted one', async () => {
    const { home } = await started({ '/f': 'old' })
    await home.fork('base', 'task')
    await home.deleteVault('base')
    const base = await home.createVault('base')
    await base.checkpoint('mine')
    expect(await contentOf(base)).toEqual({})
    expect((await base.checkpoints()).length).toBe(1)
    await expect(home.merge('task', 'base')).rejects.toMatchObject({ code: 'EINVAL' })
  })
})

describe('a merge in a family of vaults', () => {
  const files = { '/a': 'a\n', '/b': 'b\n', '/c': 'c\n' }

  it('brings changes of a sibling to the other, and of a grandchild to its grandparent', async () => {
    const { home, base } = await started(files)
    const [one, two] = [await home.fork('base', 'one'), await home.fork('base', 'two')]
    await one.write('/a', 'one\n')
    await two.write('/b', 'two\n')
    expect(formatChanges(await home.merge('one', 'two'))).toEqual(['modified /a'])
    expect(await contentOf(two)).toEqual({ '/a': 'one\n', '/b': 'two\n', '/c': 'c\n' })
    const deep = await home.fork('two', 'deep')
    await deep.remove('/c')
    await home.merge('deep', 'base')
    expect(await contentOf(base)).toEqual({ '/a': 'one\n', '/b': 'two\n' })
    expect(await contentOf(two)).toEqual({ '/a': 'one\n', '/b': 'two\n', '/c': 'c\n' })
  })

  it('of a parent into its fork brings the changes since the fork', async () => {
    const { home, base } = await started(files)
    const task = await home.fork('base', 'task')
    await base.write('/a', 'later\n')
    await base.remove('/b')
    await task.write('/c', 'mine\n')
    await home.merge('base', 'task')
    expect(await contentOf(task)).toEqual({ '/a': 'later\n', '/c': 'mine\n' })
    expect(formatChanges(await home.merge('task', 'base'))).toContain('modified /c')
    expect(await contentOf(base)).toEqual({ '/a': 'later\n', '/c': 'mine\n' })
  })

  it('applies nothing twice, and undoes no later change', async () => {
    const { home, base } = await started(files)
    const task = await home.fork('base', 'task')
    await task.write('/a', 'task\n')
    await home.merge('task', 'base')
    await base.write('/a', 'base\n')
    await base.remove('/b')
    expect(await home.merge('task', 'base')).toEqual([])
    expect(await contentOf(base)).toEqual({ '/a': 'base\n', '/c': 'c\n' })
    await task.write('/c', 'task\n')
    await home.merge('task', 'base')
    expect(await contentOf(base)).toEqual({ '/a': 'base\n', '/c': 'task\n' })
    await home.merge('base', 'task')
    expect(await contentOf(task)).toEqual(await contentOf(base))
    expect(await home.merge('task', 'base')).toEqual([])
    expect(await home.merge('base', 'task')).toEqual([])
  })

  it('brings the removal of a file it brought before', async () => {
    const { home, base } = await started(files)
    const task = await home.fork('base', 'task')
    await base.write('/mine', 'x\n')
    for (const path of ['/z', '/y', '/x']) await task.write(path, `${path}\n`)
    await home.merge('task', 'base')
    await task.remove('/x')
    await home.merge('task', 'base')
    expect(Object.keys(await contentOf(base))).toEqual(['/a', '/b', '/c', '/mine', '/y', '/z'])
  })

  it('can return directly to its source', async () => {
    const { home, base } = await started(files)
    const task = await home.fork('base', 'task')
    for (const path of ['/z', '/y', '/x']) await task.write(path, `${path}\n`)
    await home.merge('task', 'base')
    await base.write('/z', 'changed\n')
    await home.merge('base', 'task')
    expect(await contentOf(task)).toEqual(await contentOf(base))
  })

  it('works both ways repeatedly with files that are created, changed and removed', async () => {
    const { home, base } = await started(files)
    const task = await home.fork('base', 'task')
    for (let round = 0; round < 5; round++) {
      await base.write(`/base-${round}`, new Uint8Array([0, round]))
      await task.write(`/task-${round}`, new Uint8Array([0, round, 1]))
      await task.write(`/z-${round}`, 'x')
      await home.merge('task', 'base')
      await home.merge('base', 'task')
      expect(await contentOf(task)).toEqual(await contentOf(base))
      await task.write(`/base-${round}`, new Uint8Array([0, round, 2]))
      await base.remove(`/z-${round}`)
      await base.rename(`/task-${round}`, `/moved-${round}`)
      await home.merge('task', 'base')
      await home.merge('base', 'task')
      expect(await contentOf(task)).toEqual(await contentOf(base))
    }
    expect(Object.keys(await contentOf(base)).length).toBe(3 + 10)
  })

  it('applies the changes again after the target was restored to before an earlier merge', async () => {
    const { home, base } = await started(files)
    const task = await home.fork('base', 'task')
    await base.checkpoint('before')
    await task.write('/a', 'task\n')
    await home.merge('task', 'base')
    await base.restore('before')
    expect(await contentOf(base)).toEqual(files)
    expect(formatChanges(await home.merge('task', 'base'))).toEqual(['modified /a'])
    expect(await contentOf(base)).toEqual({ ...files, '/a': 'task\n' })
  })

  it('brings the restored state of the source', async () => {
    const { home, base } = await started(files)
    const task = await home.fork('base', 'task')
    await task.checkpoint('clean')
    await task.write('/a', 'task\n')
    await home.merge('task', 'base')
    await task.restore('clean')
    await task.write('/b', 'better\n')
    await home.merge('task', 'base')
    expect(await contentOf(base)).toEqual({ ...files, '/b': 'better\n' })
  })

  it('works from a fork of a checkpoint that is older than the last merge', async () => {
    const { home, base } = await started(files)
    await base.checkpoint('early')
    await base.write('/a', 'later\n')
    const old = await home.fork('base', 'old', { at: 'early' })
    await old.write('/b', 'old\n')
    await home.merge('old', 'base')
    expect(await contentOf(base)).toEqual({ ...files, '/a': 'later\n', '/b': 'old\n' })
  })

  it('does not restore what the target got from a third vault and has removed', async () => {
    const { home, base } = await started(files)
    const task = await home.fork('base', 'task')
    await task.write('/new', 'x\n')
    await home.fork('task', 'deep')
    await home.merge('task', 'base')
    await base.remove('/new')
    await home.merge('deep', 'base')
    expect(await contentOf(base)).toEqual(files)
  })

  it('fails between unrelated vaults and with itself', async () => {
    const { home } = await started(files)
    await home.createVault('stranger')
    for (const [source, target] of [
      ['stranger', 'base'],
      ['base', 'stranger'],
      ['base', 'base'],
    ] as const)
      await expect(home.merge(source, target)).rejects.toMatchObject({ code: 'EINVAL' })
    for (const [source, target] of [
      ['missing', 'base'],
      ['base', 'missing'],
    ] as const)
      await expect(home.merge(source, target)).rejects.toMatchObject({ code: 'ENOENT' })
  })

  it('is one row of the journal with its author and changes', async () => {
    const { home, base } = await started(files)
    const task = await home.fork('base', 'task')
    await task.write('/a', 'task\n')
    await task.write('/b', 'task\n')
    await home.merge('task', 'base', { caller: { kind: 'context', context: 'alice' }, trace: 't1' })
    expect(await Array.fromAsync(base.journal({ since: 3 }))).toMatchObject([
      { op: 'merge', caller: { kind: 'context', context: 'alice' }, trace: 't1' },
    ])
    expect((await Array.fromAsync(base.journal({ path: '/b' }))).map(({ op }) => op)).toEqual([
      'write',
      'merge',
    ])
  })
})

describe('a diff of two vaults', () => {
  it('lists the differences in both directions', async () => {
    const { home, base } = await started({ '/a': 'a', '/b': 'b', '/d/c': 'c' })
    const task = await home.fork('base', 'task')
    await base.write('/a', 'A')
    await task.remove('/b')
    await task.rename('/d', '/e')
    expect(formatChanges(await Array.fromAsync(task.diff(base)))).toEqual([
      'modified /a',
      'deleted /b',
      'renamed /e',
    ])
    expect(formatChanges(await Array.fromAsync(base.diff({ vault: 'task' })))).toEqual([
      'modified /a',
      'added /b',
      'renamed /d',
    ])
    await task.checkpoint('now')
    await task.write('/f', 'f')
    expect(formatChanges(await Array.fromAsync(task.diff('now')))).toEqual(['added /f'])
    expect(formatChanges(await Array.fromAsync(base.diff({ vault: 'task', checkpoint: 'now' })))).toEqual([
      'modified /a',
      'added /b',
      'renamed /d',
    ])
    await expect(Array.fromAsync(task.diff('never'))).rejects.toMatchObject({ code: 'ENOENT' })
  })

  it('treats files created in each since the fork as different', async () => {
    const { home, base } = await started()
    const task = await home.fork('base', 'task')
    await base.write('/mine', 'x')
    await task.write('/theirs', 'y')
    expect(formatChanges(await Array.fromAsync(task.diff(base)))).toEqual(['deleted /mine', 'added /theirs'])
  })
})
