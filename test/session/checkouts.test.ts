import { execFileSync } from 'node:child_process'
import { lstatSync, mkdtempSync, readdirSync, readFileSync, readlinkSync, rmSync } from 'node:fs'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import fc from 'fast-check'
import { describe, expect, it, onTestFinished } from 'vitest'
import { type Home, openHome } from '../../src/backends/vault/index.ts'
import { Checkouts, type CheckoutWatch } from '../../src/workspace/checkout/index.ts'
import { programFile } from '../support/program-file.ts'

/** A home with a vault `base`, and a directory for its checkouts. */
class Scene {
  readonly home: Home
  readonly place: string
  readonly checkouts: Checkouts

  private constructor(home: Home, place: string) {
    this.home = home
    this.place = place
    this.checkouts = new Checkouts(home, join(place, 'checkouts'))
  }

  static async make(isOnDisk = false): Promise<Scene> {
    const place = mkdtempSync(join(tmpdir(), 'coppice-checkouts-'))
    const home = await openHome(isOnDisk ? { path: join(place, 'home') } : {})
    onTestFinished(async () => {
      await home.close()
      rmSync(place, { recursive: true, force: true })
    })
    await home.createVault('base')
    return new Scene(home, place)
  }

  async write(vault: string, path: string, content: string): Promise<void> {
    await (await this.home.vault(vault)).write(path, content)
  }

  /** Reads a file in a checkout. */
  async read(vault: string, path: string): Promise<string> {
    await using checkout = await this.checkouts.acquire(vault)
    return readFileSync(join(checkout.path, path), 'utf8')
  }

  /** Lists the vaults kept for checkouts. */
  async records(): Promise<string[]> {
    return (await this.home.vaults()).filter((name) => name.startsWith('checkout-'))
  }

  slots(): string[] {
    return readdirSync(join(this.place, 'checkouts'))
  }

  /** Another process takes a checkout of `base` and is killed: while it changes files, or while it uses them. */
  killAnother(when: 'work' | 'use'): void {
    const script = programFile('checkout-process')
    const run = () => execFileSync(process.execPath, [script, this.place, when], { stdio: 'pipe' })
    expect(run).toThrow(expect.objectContaining({ signal: 'SIGKILL' }))
  }
}

/** Returns everything visible of a tree except its root. */
function treeOf(path: string): Record<string, unknown> {
  const names = readdirSync(path, { recursive: true, encoding: 'utf8' })
  return Object.fromEntries(
    names.map((name) => {
      const at = join(path, name)
      const { mode, mtimeNs, isLink, isFile } = factsOf(at)
      const content = isLink ? readlinkSync(at) : isFile ? readFileSync(at, 'latin1') : null
      return [name, { mode, time: isLink ? null : mtimeNs / 1000n, content }]
    }),
  )
}

function factsOf(at: string): { mode: number; mtimeNs: bigint; isLink: boolean; isFile: boolean } {
  const facts = lstatSync(at, { bigint: true })
  const { mtimeNs } = facts
  return { mode: Number(facts.mode), mtimeNs, isLink: facts.isSymbolicLink(), isFile: facts.isFile() }
}

describe('a checkout', () => {
  it('can be taken and released by many at once while the vault changes', async () => {
    const scene = await Scene.make(true)
    const turns = Array.from({ length: 12 }, async (_, index) => {
      const checkouts = new Checkouts(scene.home, join(scene.place, 'checkouts'))
      for (let round = 0; round < 4; round++) {
        await scene.write('base', `/${index}`, String(round))
        await using checkout = await checkouts.acquire('base')
        expect(readFileSync(join(checkout.path, String(index)), 'utf8')).toBe(String(round))
      }
    })
    await Promise.all(turns)
    expect((await scene.records()).length).toBeLessThanOrEqual(scene.slots().length)
  })

  it('has the current files of the vault, whatever it had before', async () => {
    const path = fc.constantFrom('/a', '/b', '/d', '/d/a', '/d/e', '/d/e/f', '/g/a')
    const step = fc.record({
      act: fc.constantFrom('write', 'write', 'remove', 'mkdir', 'rename', 'symlink', 'chmod', 'take'),
      path,
      to: path,
    })
    const property = fc.asyncProperty(fc.array(step, { maxLength: 25 }), async (steps) => {
      const scene = await Scene.make()
      const base = await scene.home.vault('base')
      for (const { act, path, to } of [...steps, { act: 'take', path: '/', to: '/' } as const]) {
        const work = {
          write: () => base.write(path, `${to}${steps.length}`),
          remove: () => base.remove(path, { recursive: true }),
          mkdir: () => base.mkdir(path, { parents: true, mode: 0o750 }),
          rename: () => base.rename(path, to),
          symlink: () => base.symlink(to, path),
          chmod: async () => {
            const files = await scene.home.posix('base')
            const ino = files.lookup(1, path.slice(1))
            if (ino !== undefined) files.setattr(ino, { mode: 0o711 })
          },
          take: () => expectExported(scene),
        }
        // Invalid steps are skipped: any tree will do.
        await (act === 'take' ? work.take() : work[act]().catch(() => {}))
      }
      expect(await scene.records()).toHaveLength(1)
    })
    await fc.assert(property, { numRuns: 30 })
  })

  async function expectExported({ home, place, checkouts }: Scene): Promise<void> {
    const fresh = mkdtempSync(join(place, 'fresh-'))
    await home.export('base', fresh)
    await using checkout = await checkouts.acquire('base')
    expect(treeOf(checkout.path)).toEqual(treeOf(fresh))
  }

  it('is the same directory next time, and only changed files are written', async () => {
    const scene = await Scene.make()
    for (const name of ['kept', 'changed']) await scene.write('base', `/d/${name}`, 'old')
    const inoOf = async () => {
      await using checkout = await scene.checkouts.acquire('base')
      return lstatSync(join(checkout.path, 'd/kept')).ino
    }
    const before = await inoOf()
    await scene.write('base', '/d/changed', 'new')
    expect(await inoOf()).toBe(before)
    expect(await scene.read('base', 'd/changed')).toBe('new')
    expect(scene.slots()).toHaveLength(1)
  })

  it('of a fork is made from that of its origin, and back', async () => {
    const scene = await Scene.make()
    await scene.write('base', '/a', 'base')
    await scene.home.fork('base', 'task')
    await scene.write('task', '/a', 'task')
    expect(await scene.read('base', 'a')).toBe('base')
    expect(await scene.read('task', 'a')).toBe('task')
    expect(await scene.read('base', 'a')).toBe('base')
    expect(scene.slots()).toHaveLength(1)
  })

  it('is shared within a process for the same files, and never changes during use', async () => {
    const scene = await Scene.make()
    await scene.write('base', '/a', 'one')
    const [first, same] = await Promise.all([
      scene.checkouts.acquire('base'),
      scene.checkouts.acquire('base'),
    ])
    await scene.write('base', '/a', 'two')
    await using other = await scene.checkouts.acquire('base')
    await first[Symbol.asyncDispose]()
    expect(same.path).toBe(first.path)
    expect(await scene.read('base', 'a')).toBe('two')
    expect(readFileSync(join(same.path, 'a'), 'utf8')).toBe('one')
    expect(readFileSync(join(other.path, 'a'), 'utf8')).toBe('two')
    await same[Symbol.asyncDispose]()
  })

  it('is not shared with another process, which creates its own', async () => {
    const scene = await Scene.make()
    await scene.write('base', '/a', 'one')
    await using mine = await scene.checkouts.acquire('base')
    await using theirs = await new Checkouts(scene.home, join(scene.place, 'checkouts')).acquire('base')
    expect(theirs.path).not.toBe(mine.path)
  })

  it('is taken over from a killed process', async () => {
    const scene = await Scene.make(true)
    await scene.write('base', '/a', 'one')
    scene.killAnother('use')
    const slots = scene.slots()
    expect(await scene.read('base', 'a')).toBe('one')
    expect(scene.slots()).toEqual(slots)
  })

  it('is never used if the process that changed it was killed', async () => {
    const scene = await Scene.make(true)
    await scene.write('base', '/a', 'one')
    expect(await scene.read('base', 'a')).toBe('one')
    await scene.write('base', '/a', 'two')
    scene.killAnother('work')
    expect(await scene.read('base', 'a')).toBe('two')
    expect(scene.slots()).toHaveLength(1)
    expect(await scene.records()).toHaveLength(1)
  })

  it('is kept for the most recently used vaults only', async () => {
    const scene = await Scene.make()
    const names = Array.from({ length: 6 }, (_, index) => `v${index}`)
    for (const name of names) {
      await scene.home.createVault(name)
      await scene.write(name, '/a', name)
      expect(await scene.read(name, 'a')).toBe(name)
    }
    expect(scene.slots()).toHaveLength(4)
    expect(await scene.records()).toHaveLength(4)
  })

  it('is forgotten if its directory was removed', async () => {
    const scene = await Scene.make()
    await scene.write('base', '/a', 'one')
    await scene.read('base', 'a')
    rmSync(join(scene.place, 'checkouts'), { recursive: true })
    expect(await scene.read('base', 'a')).toBe('one')
    expect(await scene.records()).toHaveLength(1)
  })

  it('of a fork does not undo that of another which differs much', async () => {
    const scene = await Scene.make()
    await scene.write('base', '/a', 'one')
    await scene.read('base', 'a')
    await scene.home.fork('base', 'installed')
    for (let file = 0; file < 1100; file++) await scene.write('installed', `/modules/f${file}`, `${file}`)
    expect(await scene.read('installed', 'modules/f7')).toBe('7')
    expect(scene.slots()).toHaveLength(2)
    await scene.home.fork('base', 'other')
    await scene.write('other', '/a', 'two')
    // Each takes the checkout that differs least.
    expect(await scene.read('other', 'a')).toBe('two')
    expect(await scene.read('installed', 'modules/f8')).toBe('8')
    expect(scene.slots()).toHaveLength(2)
  })

  it('reports its files while it is created, and nothing when it is updated', async () => {
    const scene = await Scene.make()
    for (let file = 0; file < 300; file++) await scene.write('base', `/f${file}`, `${file}`)
    const reports: unknown[] = []
    const watch: CheckoutWatch = (work) => work((progress) => reports.push(progress))
    await (await scene.checkouts.acquire('base', { watch }))[Symbol.asyncDispose]()
    expect(reports.at(-1)).toMatchObject({ done: 300, total: 300 })
    reports.length = 0
    await scene.write('base', '/f1', 'changed')
    await (await scene.checkouts.acquire('base', { watch }))[Symbol.asyncDispose]()
    expect(reports).toEqual([])
  })

  it('leaves nothing if it cannot be created', async () => {
    const scene = await Scene.make()
    await scene.write('base', '/a', 'one')
    await expect(scene.checkouts.acquire('base', { signal: AbortSignal.abort() })).rejects.toThrow()
    expect(scene.slots()).toEqual([])
    expect(await scene.records()).toEqual([])
    await expect(scene.checkouts.acquire('none')).rejects.toMatchObject({ code: 'ENOENT' })
  })
})
