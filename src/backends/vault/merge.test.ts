import { describe, expect, it } from 'vitest'
import { MergeError } from '../../store/index.ts'
import { readText } from '../../vfs/index.ts'
import { type Home, openHome, type Vault } from './index.ts'

const TEXT = 'one\ntwo\nthree\nfour\nfive\n'

async function forked(): Promise<{ home: Home; base: Vault; task: Vault }> {
  const home = await openHome()
  const base = await home.createVault('base')
  for (const path of ['/a', '/b', '/dir/x', '/dir/y']) await base.write(path, TEXT)
  return { home, base, task: await home.fork('base', 'task') }
}

async function conflictsOf(merge: Promise<unknown>): Promise<string[]> {
  const error = await merge.then(
    () => undefined,
    (cause: unknown) => cause,
  )
  expect(error).toBeInstanceOf(MergeError)
  return error instanceof MergeError ? error.conflicts.map(({ path }) => path) : []
}

describe('a merge', () => {
  it('applies all changes of a fork to its source', async () => {
    const { home, base, task } = await forked()
    await task.write('/a', 'changed')
    await task.remove('/b')
    await task.rename('/dir', '/folder')
    await task.write('/new/deep', 'x')
    await task.mkdir('/empty')
    await task.symlink('a', '/link')
    await task.write('/large', new Uint8Array(100_000).fill(1))
    await base.write('/meanwhile', 'ours')
    await home.merge('task', 'base')
    expect((await Array.fromAsync(base.walk('/', { includeDirs: true }))).map(({ path }) => path)).toEqual([
      '/a',
      '/empty',
      '/folder',
      '/folder/x',
      '/folder/y',
      '/large',
      '/link',
      '/meanwhile',
      '/new',
      '/new/deep',
    ])
    expect(await readText(base, '/link')).toBe('changed')
    expect((await base.stat('/large')).size).toBe(100_000)
  })

  it('combines changes of different lines in one file', async () => {
    const { home, base, task } = await forked()
    await task.write('/a', TEXT.replace('one', 'ONE'))
    await base.write('/a', TEXT.replace('five', 'FIVE'))
    await home.merge('task', 'base')
    expect(await readText(base, '/a')).toBe('ONE\ntwo\nthree\nfour\nFIVE\n')
  })

  it('fails with every conflict listed, and changes nothing', async () => {
    const { home, base, task } = await forked()
    await task.write('/a', TEXT.replace('three', 'theirs'))
    await base.write('/a', TEXT.replace('three', 'ours'))
    await task.write('/b', 'changed')
    await base.remove('/b')
    await task.rename('/dir/x', '/dir/z')
    await base.rename('/dir/x', '/dir/w')
    await task.write('/fine', 'x')
    await base.write('/both', 'ours')
    await task.write('/both/below', 'theirs')
    const before = await Array.fromAsync(base.walk('/'))
    expect(await conflictsOf(home.merge('task', 'base'))).toEqual(['/a', '/b', '/both', '/dir/z'])
    expect(await Array.fromAsync(base.walk('/'))).toEqual(before)
  })

  it('keeps the side that the option selects', async () => {
    for (const [onConflict, expected] of [
      ['ours', 'ours'],
      ['theirs', 'theirs'],
    ] as const) {
      const { home, base, task } = await forked()
      await task.write('/a', 'theirs')
      await base.write('/a', 'ours')
      await task.write('/new', 'x')
      await home.merge('task', 'base', { onConflict })
      expect(await readText(base, '/a')).toBe(expected)
      expect(await base.exists('/new')).toBe(true)
    }
  })

  it('writes both sides between markers on request', async () => {
    const { home, base, task } = await forked()
    await task.write('/a', TEXT.replace('three', 'theirs'))
    await base.write('/a', TEXT.replace('three', 'ours'))
    await home.merge('task', 'base', { onConflict: 'markers' })
    const marked = 'one\ntwo\n<<<<<<< base\nours\n=======\ntheirs\n>>>>>>> task\nfour\nfive\n'
    expect(await readText(base, '/a')).toBe(marked)
  })

  it('accepts the same change on both sides, and lines named like object members', async () => {
    const { home, base, task } = await forked()
    const lines = 'constructor\n__proto__\ntoString\n'
    for (const vault of [base, task]) await vault.write('/a', lines)
    await task.write('/b', `${lines}${TEXT}`)
    await base.write('/b', `${TEXT}hasOwnProperty\n`)
    await home.merge('task', 'base')
    expect(await readText(base, '/b')).toBe(`${lines}${TEXT}hasOwnProperty\n`)
  })

  it('returns no changes where the target has them all', async () => {
    const { home, base, task } = await forked()
    for (const vault of [base, task]) await vault.write('/new', 'same\n')
    expect(await home.merge('task', 'base')).toEqual([])
    await task.write('/more', 'x\n')
    const lengths = [await home.merge('task', 'base'), await home.merge('task', 'base')].map(
      (all) => all.length,
    )
    expect(lengths).toEqual([1, 0])
  })

  it('fails for a vault that is no fork of the target', async () => {
    const { home } = await forked()
    await home.createVault('other')
    await expect(home.merge('other', 'base')).rejects.toMatchObject({ code: 'EINVAL' })
  })
})
