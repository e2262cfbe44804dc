import { describe, expect, it } from 'vitest'
import { Home } from '../../src/backends/vault/index.ts'
import { type Engine, MemoryEngine, StoreHome } from '../../src/store/index.ts'
import { type FileSystem, isVfsError, readFile } from '../../src/vfs/index.ts'
import { addToFigure } from '../support/figures.ts'
import { PATIENCE_MS, scaled } from '../support/scale.ts'
import { type EngineCall, tapEngine } from '../support/tap-engine.ts'

const FILES = 120
const FLIPS_EACH = scaled(3, 100)

type Stored = 'readPage' | 'readBlob'
type Contents = ReadonlyMap<string, string>

describe('a bit that flips in any page or blob', () => {
  it('is reported by fsck, is EIO for every read of that place, and is never returned as content', {
    timeout: PATIENCE_MS,
  }, async () => {
    const engine = await filledEngine()
    const right = (await readAll(engine)).contents
    expect(right.size).toBeGreaterThan(FILES)
    const stored = await reachable(engine)
    for (const call of ['readPage', 'readBlob'] as const) {
      expect(stored[call].size).toBeGreaterThan(10)
      for (const id of stored[call]) {
        for (let flip = 0; flip < FLIPS_EACH; flip++) {
          const damaged = flipped(engine, call, id, Math.random())
          const { contents, failures } = await readAll(damaged)
          for (const [path, content] of contents) expect(content, path).toBe(right.get(path))
          expect(failures.length, `${call} ${id} was read without a word`).toBeGreaterThan(0)
          expect(new Set(failures)).toEqual(new Set(['EIO']))
          const report = await new Home(new StoreHome(damaged)).fsck()
          expect(report.damaged).toMatchObject([{ kind: call === 'readPage' ? 'page' : 'blob', id }])
          addToFigure('bitFlips')
        }
      }
    }
  })
})

describe('a bit that flips in the journal', () => {
  // Rows have no checksum yet: this fails the day they get one, and is then a test like any other.
  it('is EIO when the vault is opened, and is never returned as content', async () => {
    const engine = new MemoryEngine()
    const vault = await new Home(new StoreHome(engine)).createVault('base')
    for (let file = 0; file < 20; file++) await vault.write(`/f${file}`, `${file} is what the file holds`)
    const right = (await readAll(engine, ['base'])).contents
    expect(right.size).toBe(20)
    for (let flip = 0; flip < 200; flip++) {
      const { contents, failures } = await readAll(flippedRow(engine, flip % 20, Math.random()), ['base'])
      for (const [path, content] of contents) expect(content, path).toBe(right.get(path))
      expect(new Set(failures)).toEqual(new Set(['EIO']))
      addToFigure('bitFlips')
    }
  })
})

/** Vaults, a fork and a checkpoint that share pages and have some of their own; files of every form. */
async function filledEngine(): Promise<Engine> {
  const engine = new MemoryEngine()
  const home = new Home(new StoreHome(engine))
  const base = await home.createVault('base')
  const text = (file: number) => `${file} is what the file holds. `
  for (let file = 0; file < FILES; file++)
    await base.write(`/d${file % 5}/f${file}`, text(file).repeat(file % 4 === 0 ? 300 : (file % 3) + 1))
  await base.write('/large', text(0).repeat(6000))
  await base.symlink('/large', '/link')
  await base.checkpoint('then')
  await base.remove('/d1', { recursive: true })
  const task = await home.fork('base', 'task')
  await task.write('/d2/new', text(7).repeat(200))
  await home.close()
  return engine
}

/** What leads from a vault or checkpoint; a page that a later one replaced leads nowhere. */
async function reachable(engine: Engine): Promise<Record<Stored, ReadonlySet<number>>> {
  const stored: Record<Stored, Set<number>> = { readPage: new Set(), readBlob: new Set() }
  const before = (call: EngineCall, [id]: readonly unknown[]) => {
    if (isStored(call)) stored[call].add(Number(id))
  }
  await new Home(new StoreHome(tapEngine(engine, { before }))).fsck()
  return stored
}

function isStored(call: EngineCall): call is Stored {
  return call === 'readPage' || call === 'readBlob'
}

/** An engine that gives one page or blob back with one bit turned. */
function flipped(engine: Engine, call: Stored, id: number, where: number): Engine {
  return tapEngine(engine, {
    after: (made, [asked], answer) => {
      if (made !== call || asked !== id || !(answer instanceof Uint8Array)) return answer
      return withFlippedBit(answer, where)
    },
  })
}

/** An engine that gives one row of the journal back with one bit turned. */
function flippedRow(engine: Engine, index: number, where: number): Engine {
  return tapEngine(engine, {
    after: (call, _args, answer) => {
      if (call !== 'readJournal' || !Array.isArray(answer)) return answer
      return answer.map((row, at) =>
        at === index ? { ...row, bytes: withFlippedBit(row.bytes, where) } : row,
      )
    },
  })
}

function withFlippedBit(bytes: Uint8Array, where: number): Uint8Array {
  const copy = new Uint8Array(bytes)
  const bit = Math.floor(where * copy.length * 8)
  copy[bit >> 3] = (copy[bit >> 3] ?? 0) ^ (1 << (bit & 7))
  return copy
}

/** Reads every file of every vault and checkpoint with a home that has nothing cached. */
async function readAll(
  engine: Engine,
  vaults: readonly string[] = ['base', 'base at then', 'task'],
): Promise<{ contents: Contents; failures: string[] }> {
  const home = new Home(new StoreHome(engine))
  const contents = new Map<string, string>()
  const failures: string[] = []
  const attempt = async (work: () => Promise<void>) => {
    await work().catch((error: unknown) => {
      failures.push(isVfsError(error) ? error.code : String(error))
    })
  }
  const readTree = async (name: string, fs: FileSystem) => {
    for await (const { path } of fs.walk('/')) {
      const read = async () => {
        contents.set(`${name}:${path}`, Buffer.from(await readFile(fs, path)).toString())
      }
      await attempt(read)
    }
  }
  for (const name of vaults) {
    const [vault = '', , checkpoint] = name.split(' ')
    await attempt(async () => {
      const fs = await home.vault(vault)
      await readTree(name, checkpoint === undefined ? fs : fs.at(checkpoint))
    })
  }
  return { contents, failures }
}
