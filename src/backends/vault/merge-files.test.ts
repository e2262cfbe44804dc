import { describe, expect, it } from 'vitest'
import { digestSides, MergeError, type Resolution, type TextSides } from '../../store/index.ts'
import { type FileSystem, readText } from '../../vfs/index.ts'
import { type Home, openHome, type Vault } from './index.ts'

const TEXT = 'one\ntwo\nthree\nfour\nfive\n'

async function forked(
  files: Readonly<Record<string, string>>,
): Promise<{ home: Home; base: Vault; task: Vault }> {
  const home = await openHome()
  const base = await home.createVault('base')
  for (const [path, content] of Object.entries(files)) await base.write(path, content)
  return { home, base, task: await home.fork('base', 'task') }
}

async function contentsOf(fs: FileSystem): Promise<Record<string, string>> {
  const files: [string, string][] = []
  for await (const { path } of fs.walk('/')) files.push([path, await readText(fs, path)])
  return Object.fromEntries(files)
}

async function pastOf(vault: Vault, path: string): Promise<string[]> {
  const texts: string[] = []
  for await (const { version } of vault.versions(path))
    texts.push(Buffer.concat(await Array.fromAsync(vault.readVersion(path, version))).toString())
  return texts
}

async function conflictsOf(merge: Promise<unknown>): Promise<string[]> {
  const error = await merge.then(
    () => undefined,
    (cause: unknown) => cause,
  )
  if (error instanceof MergeError) return error.conflicts.map(({ path }) => path)
  throw error
}

describe('a file that both have', () => {
  it('gets their changes at our new path, and new files follow their moved directory', async () => {
    const { home, base, task } = await forked({ '/dir/x': TEXT, '/dir/y': 'y' })
    await base.rename('/dir', '/folder')
    await base.rename('/folder/y', '/z')
    await task.write('/dir/x', TEXT.replace('one', 'ONE'))
    await task.write('/dir/y', 'changed')
    await task.write('/dir/new', 'new')
    await home.merge('task', 'base')
    expect(await contentsOf(base)).toEqual({
      '/folder/x': TEXT.replace('one', 'ONE'),
      '/folder/new': 'new',
      '/z': 'changed',
    })
  })

  it('is the same when it was saved by renaming a new one over it', async () => {
    const { home, base, task } = await forked({ '/f': TEXT })
    await task.write('/f.tmp', TEXT.replace('one', 'ONE'))
    await task.rename('/f.tmp', '/f', { overwrite: true })
    await base.remove('/f')
    await base.write('/f', TEXT.replace('five', 'FIVE'))
    await home.merge('task', 'base')
    expect(await contentsOf(base)).toEqual({ '/f': TEXT.replace('one', 'ONE').replace('five', 'FIVE') })
  })

  it('is merged by lines in any encoding, byte for byte', async () => {
    const { home, base, task } = await forked({})
    const bytes = (first: string, last: string) => Buffer.from(`${first}\n\xe9\xff\n\n\n${last}\n`, 'latin1')
    await base.write('/f', bytes('a', 'z'))
    await home.merge('base', 'task')
    await task.write('/f', bytes('\xe0', 'z'))
    await base.write('/f', bytes('a', '\xfe'))
    await home.merge('task', 'base')
    const merged = Buffer.concat(await Array.fromAsync(base.read('/f')))
    expect(merged.equals(bytes('\xe0', '\xfe'))).toBe(true)
  })

  it('gets no new version by a move or a swap, and keeps its history with that of the other behind it', async () => {
    const { home, base, task } = await forked({ '/a': 'a', '/b': 'b', '/c': 'c' })
    await task.rename('/a', '/aside')
    await task.rename('/b', '/a')
    await task.rename('/aside', '/b')
    await task.write('/b', 'a changed')
    await task.rename('/c', '/dir/c')
    await home.merge('task', 'base')
    expect(await pastOf(base, '/a')).toEqual(['b', 'a'])
    expect(await pastOf(base, '/b')).toEqual(['a changed', 'a', 'b'])
    expect(await pastOf(base, '/dir/c')).toEqual(['c'])
    const touched = await Array.fromAsync(base.journal({ path: '/dir' }), ({ op }) => op)
    expect(touched).toEqual(['merge'])
  })
})

describe('incompatible changes', () => {
  it('conflict if one side removed or moved what the other changed or moved', async () => {
    const { home, base, task } = await forked({ '/a': 'a', '/b': 'b', '/c': 'c', '/d': 'd', '/e': 'e' })
    await task.remove('/a')
    await base.write('/a', 'changed')
    await task.write('/b', 'changed')
    await base.remove('/b')
    await task.rename('/c', '/c1')
    await base.rename('/c', '/c2')
    await task.remove('/d')
    await base.rename('/d', '/d1')
    await task.rename('/e', '/f')
    await base.write('/f', 'ours')
    expect(await conflictsOf(home.merge('task', 'base'))).toEqual(['/a', '/b', '/c1', '/d', '/f'])
  })

  it('keep both sides with markers, or side by side if the file has no lines', async () => {
    const { home, base, task } = await forked({ '/image': '\0', '/gone': 'x', '/kept': 'x' })
    await task.write('/image', '\0theirs')
    await base.write('/image', '\0ours')
    await task.write('/gone', 'theirs')
    await base.remove('/gone')
    await task.remove('/kept')
    await base.write('/kept', 'ours')
    await task.write('/place/file', 'theirs')
    await base.write('/place', 'ours')
    await home.merge('task', 'base', { onConflict: 'markers' })
    expect(await contentsOf(base)).toEqual({
      '/image': '\0ours',
      '/image~task': '\0theirs',
      '/gone': 'theirs',
      '/kept': 'ours',
      '/place': 'ours',
      '/place~task/file': 'theirs',
    })
  })

  it('lose no directory of ours to a file of theirs', async () => {
    const { home, base, task } = await forked({ '/d/f': 'x' })
    await task.remove('/d', { recursive: true })
    await task.write('/d', 'theirs')
    await base.write('/d/mine', 'ours')
    expect(await conflictsOf(home.merge('task', 'base'))).toEqual(['/d'])
    await home.merge('task', 'base', { onConflict: 'theirs' })
    expect(await contentsOf(base)).toEqual({ '/d': 'theirs', '/d~base/mine': 'ours' })
  })

  it("conflict if each side moved a directory into the other's", async () => {
    const { home, base, task } = await forked({ '/a/x': 'x', '/b/y': 'y' })
    await task.rename('/a', '/b/a')
    await base.rename('/b', '/a/b')
    expect(await conflictsOf(home.merge('task', 'base'))).toEqual(['/b/a'])
    await home.merge('task', 'base', { onConflict: 'theirs' })
    expect(await contentsOf(base)).toEqual({ '/a/x': 'x', '/a/b/y': 'y' })
  })
})

describe('tags and metadata', () => {
  it('are merged one by one; ours wins a conflict', async () => {
    const { home, base, task } = await forked({ '/f': 'x' })
    await base.tags.add('/f', ['both', 'gone', 'ours-gone'])
    for (const key of ['same', 'theirs', 'removed', 'clash']) await base.meta.set('/f', key, 'old')
    await home.merge('base', 'task')
    await task.tags.add('/f', 'theirs')
    await task.tags.remove('/f', 'gone')
    await task.meta.set('/f', 'theirs', 'new')
    await task.meta.set('/f', 'clash', 'theirs')
    await task.meta.remove('/f', 'removed')
    await base.tags.add('/f', 'ours')
    await base.tags.remove('/f', 'ours-gone')
    await base.meta.set('/f', 'clash', 'ours')
    await task.write('/new', 'x')
    await task.tags.add('/new', 'fresh')
    await home.merge('task', 'base')
    expect(await base.tags.of('/f')).toEqual(['both', 'ours', 'theirs'])
    expect(await base.meta.all('/f')).toEqual({ same: 'old', theirs: 'new', clash: 'ours' })
    expect(await base.tags.find('fresh')).toEqual(['/new'])
  })
})

describe('a resolved conflict', () => {
  it('takes the text that resolves it, until a side changes', async () => {
    const { home, base, task } = await forked({ '/f': TEXT, '/g': TEXT })
    for (const path of ['/f', '/g']) {
      await base.write(path, TEXT.replace('two', 'OURS'))
      await task.write(path, TEXT.replace('two', 'THEIRS'))
    }
    const seen = new Map<string, TextSides>()
    const trial = { isTrial: true, onTextConflict: (path: string, sides: TextSides) => seen.set(path, sides) }
    expect(await conflictsOf(home.merge('task', 'base', trial))).toEqual(['/f', '/g'])
    const sides = seen.get('/f')
    expect(sides).toEqual({
      base: TEXT,
      ours: TEXT.replace('two', 'OURS'),
      theirs: TEXT.replace('two', 'THEIRS'),
    })
    const text = { bytes: Buffer.from('mine\n'), sides: sides === undefined ? '' : digestSides(sides) }
    const resolutions = new Map<string, Resolution>([
      ['/f', text],
      ['/g', 'theirs'],
    ])
    await task.write('/f', TEXT.replace('two', 'LATER'))
    expect(await conflictsOf(home.merge('task', 'base', { resolutions }))).toEqual(['/f'])
    await task.write('/f', TEXT.replace('two', 'THEIRS'))
    await home.merge('task', 'base', { resolutions })
    expect(await contentsOf(base)).toEqual({ '/f': 'mine\n', '/g': TEXT.replace('two', 'THEIRS') })
  })

  it('is resolved by a text for any versions, if the text names none', async () => {
    const { home, base, task } = await forked({ '/f': TEXT })
    await base.write('/f', TEXT.replace('two', 'OURS'))
    await task.write('/f', TEXT.replace('two', 'THEIRS'))
    const resolutions = new Map([['/f', { bytes: Buffer.from('mine\n') }]])
    await home.merge('task', 'base', { resolutions })
    expect(await contentsOf(base)).toEqual({ '/f': 'mine\n' })
  })

  it('is undone with its merge, once', async () => {
    const { home, base, task } = await forked({ '/f': TEXT })
    await task.write('/f', 'theirs')
    await home.merge('task', 'base', { isUndoable: true })
    expect(await home.undoMerge('base')).toMatchObject([{ kind: 'modified', path: '/f' }])
    expect(await readText(base, '/f')).toBe(TEXT)
    await expect(home.undoMerge('base')).rejects.toMatchObject({ code: 'ENOENT' })
    await home.merge('task', 'base', { isUndoable: true })
    await base.write('/later', 'kept')
    await expect(home.undoMerge('base')).rejects.toMatchObject({ code: 'ECONFLICT' })
    expect(await contentsOf(base)).toEqual({ '/f': 'theirs', '/later': 'kept' })
  })
})
