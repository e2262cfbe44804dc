import { mkdtempSync, rmSync } from 'node:fs'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import fc from 'fast-check'
import { afterAll, describe, expect, it } from 'vitest'
import { append, diff, type FileSystem, isVfsError, MemoryFs, move } from '../../vfs/index.ts'
import { type Home, openHome } from './index.ts'

const scratch = mkdtempSync(join(tmpdir(), 'coppice-history-'))
afterAll(() => rmSync(scratch, { recursive: true, force: true }))

const names = ['base', 'one', 'two'] as const
const path = fc.constantFrom('/a', '/b', '/a/c', '/b/d', '/b/d/e')
const step = fc.record({
  act: fc.constantFrom(
    'write',
    'append',
    'mkdir',
    'remove',
    'move',
    'fork',
    'checkpoint',
    'restore',
    'reopen',
  ),
  vault: fc.constantFrom(...names),
  other: fc.constantFrom(...names),
  path,
  to: path,
  size: fc.constantFrom(0, 5, 300, 40_000),
})
type Step = typeof step extends fc.Arbitrary<infer T> ? T : never

/** A home and what it should hold: each vault as a file system in memory, each checkpoint as a fork of one. */
class History {
  #home: Home
  readonly #path: string
  readonly #vaults = new Map<string, MemoryFs>([['base', new MemoryFs()]])
  readonly #checkpoints = new Map<string, MemoryFs>()

  private constructor(home: Home, path: string) {
    this.#home = home
    this.#path = path
  }

  static async begin(path: string): Promise<History> {
    const home = await openHome({ path })
    await home.createVault('base')
    return new History(home, path)
  }

  async take({ act, vault: name, other, path, to, size }: Step): Promise<void> {
    const model = this.#vaults.get(name)
    if (act === 'reopen') return this.#reopen()
    if (model === undefined) return
    const vault = await this.#home.vault(name)
    if (act === 'fork') await this.#fork(name, model, other)
    else if (act === 'checkpoint') {
      if (!this.#checkpoints.has(name)) await vault.checkpoint('kept')
      if (!this.#checkpoints.has(name)) this.#checkpoints.set(name, model.fork())
    } else if (act === 'restore') {
      const kept = this.#checkpoints.get(name)
      if (kept === undefined) return
      await vault.restore('kept')
      this.#vaults.set(name, kept.fork())
    } else {
      const run = (fs: FileSystem) => outcome(perform(fs, act, path, to, size))
      expect(await run(vault)).toBe(await run(model))
    }
  }

  async check(): Promise<void> {
    for (const [name, model] of this.#vaults) {
      const differences = await Array.fromAsync(diff(model, await this.#home.vault(name)))
      expect(differences.map(({ kind, path }) => `${name}: ${kind} ${path}`)).toEqual([])
    }
  }

  close(): Promise<void> {
    return this.#home.close()
  }

  async #fork(name: string, model: MemoryFs, as: string): Promise<void> {
    if (this.#vaults.has(as)) {
      await expect(this.#home.fork(name, as)).rejects.toMatchObject({ code: 'EEXIST' })
      return
    }
    await this.#home.fork(name, as)
    this.#vaults.set(as, model.fork())
  }

  /** As after a crash: the home is not closed first. */
  async #reopen(): Promise<void> {
    this.#home = await openHome({ path: this.#path })
  }
}

async function perform(fs: FileSystem, act: string, path: string, to: string, size: number): Promise<void> {
  const content = 'x'.repeat(size)
  if (act === 'write') await fs.write(path, content)
  else if (act === 'append') await append(fs, path, content)
  else if (act === 'mkdir') await fs.mkdir(path)
  else if (act === 'remove') await fs.remove(path, { recursive: true })
  else await move(fs, path, to, { overwrite: size > 0 })
}

function outcome(work: Promise<void>): Promise<string> {
  return work.then(
    () => 'done',
    (error: unknown) => (isVfsError(error) ? error.code : String(error)),
  )
}

describe('any history of a home', () => {
  it('leaves every vault as a file system in memory with the same history', async () => {
    let place = 0
    const property = fc.asyncProperty(fc.array(step, { maxLength: 30 }), async (steps) => {
      const history = await History.begin(join(scratch, `home-${++place}`))
      for (const one of steps) await history.take(one)
      await history.check()
      await history.close()
    })
    await fc.assert(property, { numRuns: 60 })
  })
})
