import fc from 'fast-check'
import { describe, expect, it, onTestFinished, vi } from 'vitest'
import { type Home, openHome } from './index.ts'

/** Everything that is known of every path of a vault. */
async function factsOf(home: Home, name: string): Promise<Map<string, string>> {
  const [vault, files] = [await home.vault(name), await home.posix(name)]
  const facts = new Map<string, string>()
  for await (const { path } of vault.walk('/', { includeDirs: true })) {
    const ino = path.split('/').reduce((at, part) => (part ? (files.lookup(at, part) ?? 0) : at), 1)
    const { type, size, mode, uid, mtime } = files.getattr(ino)
    const content = type === 'file' ? Buffer.from(files.read(ino, 0, size)).toString('latin1') : ''
    facts.set(path, JSON.stringify([type, mode, uid, mtime, content]))
  }
  return facts
}

describe('the touched paths of two vaults', () => {
  it('include everything in a moved directory, at both paths', async () => {
    // The root differs by its time alone, so that the rename must not happen in the same millisecond.
    vi.useFakeTimers({ toFake: ['Date'], now: 1_000 })
    onTestFinished(() => void vi.useRealTimers())
    await using home = await openHome()
    const base = await home.createVault('base')
    await base.write('/d/e/f', 'x')
    await base.write('/g', 'x')
    vi.setSystemTime(2_000)
    await (await home.fork('base', 'task')).rename('/d', '/h')
    const touched = ['/', '/d', '/d/e', '/d/e/f', '/h', '/h/e', '/h/e/f']
    expect(await home.listTouchedPaths('base', 'task')).toEqual(touched)
    expect(await home.listTouchedPaths('task', 'base')).toEqual(touched)
  })

  it('include every path with a difference, and few others', async () => {
    const path = fc.constantFrom('/a', '/d', '/d/a', '/d/e', '/d/e/f', '/g/a')
    const step = fc.record({
      vault: fc.constantFrom('base', 'one', 'two'),
      act: fc.constantFrom('write', 'write', 'remove', 'mkdir', 'rename', 'chown', 'fork'),
      path,
      to: path,
    })
    const property = fc.asyncProperty(fc.array(step, { maxLength: 40 }), async (steps) => {
      await using home = await openHome()
      await home.createVault('base')
      for (let number = 0; number < 30; number++)
        await (await home.vault('base')).write(`/far/${number}`, 'same')
      for (const name of ['one', 'two']) await home.fork('base', name)
      for (const { vault: name, act, path, to } of steps) {
        const [vault, files] = [await home.vault(name), await home.posix(name)]
        const work = {
          write: () => vault.write(path, to),
          remove: () => vault.remove(path, { recursive: true }),
          mkdir: () => vault.mkdir(path, { parents: true }),
          rename: () => vault.rename(path, to),
          chown: async () => files.setattr(files.lookup(1, path.slice(1)) ?? 0, { uid: 7 }),
          fork: async () => {
            if (name === 'base') return
            await home.deleteVault(name)
            await home.fork('base', name)
          },
        }
        // What does not fit what is there is left out: any tree will do.
        await work[act]().catch(() => {})
      }
      const [before, after] = [await factsOf(home, 'one'), await factsOf(home, 'two')]
      const touched = await home.listTouchedPaths('one', 'two')
      const paths = new Set([...before.keys(), ...after.keys()])
      const differ = [...paths].filter((each) => before.get(each) !== after.get(each))
      expect(touched).toEqual(expect.arrayContaining(differ))
      expect(touched.filter((each) => each.startsWith('/far/'))).toEqual([])
      expect(touched).toEqual([...touched].sort())
    })
    await fc.assert(property, { numRuns: 60 })
  })
})
