import { describe, expect, it } from 'vitest'
import { Home } from '../../src/backends/vault/index.ts'
import { DelayedEngine, type Engine, MemoryEngine, StoreHome } from '../../src/store/index.ts'
import { readText } from '../../src/vfs/index.ts'
import { tapEngine } from '../support/tap-engine.ts'

const FILES = 300

describe('a remote home that reads ahead', () => {
  it('fails for the files that a lost page fails on a local engine, and for no others', async () => {
    const engine = await storeFiles()
    for (const id of engine.listPages(0, 1000)) {
      const lose = (call: string, args: readonly unknown[], answer: unknown) =>
        call === 'readPage' && args[0] === id ? undefined : answer
      const local = tapEngine(engine, { after: lose })
      expect(await listUnreadable(new DelayedEngine(local))).toEqual(await listUnreadable(local))
    }
  })

  it('reads again once the connection is back', async () => {
    const engine = new DelayedEngine(await storeFiles())
    let isCut = false
    const before = (call: string) => {
      if (call === 'readBatch' && isCut) throw new Error('connection reset')
    }
    const vault = await new Home(new StoreHome(tapEngine(engine, { before }))).vault('base')
    isCut = true
    await expect(readText(vault, '/d5/f5')).rejects.toMatchObject({ code: 'EIO' })
    isCut = false
    expect(await readText(vault, '/d5/f5')).toBe('5')
  })
})

/** Lists the files of a stored vault that cannot be read; all if it cannot be opened. */
async function listUnreadable(engine: Engine): Promise<number[] | 'all'> {
  try {
    const vault = await new Home(new StoreHome(engine)).vault('base')
    const outcomes = await Promise.allSettled(
      Array.from({ length: FILES }, (_, file) => readText(vault, `/d${file % 9}/f${file}`)),
    )
    return outcomes.flatMap(({ status }, file) => (status === 'rejected' ? [file] : []))
  } catch {
    return 'all'
  }
}

/** Returns an engine with a vault that no process has in memory. */
async function storeFiles(): Promise<MemoryEngine> {
  const engine = new MemoryEngine()
  const home = new Home(new StoreHome(engine))
  const vault = await home.createVault('base')
  for (let file = 0; file < FILES; file++) await vault.write(`/d${file % 9}/f${file}`, `${file}`)
  await home.close()
  return engine
}
