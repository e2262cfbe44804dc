import { mkdtempSync, rmSync } from 'node:fs'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { afterAll, describe, it } from 'vitest'
import { fileSystemSuite, type Subject } from '../../conformance/index.ts'
import {
  DelayedEngine,
  type Engine,
  LevelEngine,
  LmdbEngine,
  MemoryEngine,
  SqliteEngine,
  StoreHome,
} from '../../store/index.ts'
import { MountTable, OverlayFs } from '../../vfs/index.ts'
import { Home } from './index.ts'

const scratch = mkdtempSync(join(tmpdir(), 'coppice-vaults-'))
const stores: StoreHome[] = []
let places = 0
afterAll(async () => {
  for (const store of stores) await store.close()
  rmSync(scratch, { recursive: true, force: true })
})

const engines: Readonly<Record<string, () => Engine | Promise<Engine>>> = {
  memory: () => new MemoryEngine(),
  sqlite: () => new SqliteEngine({ file: join(scratch, `home-${++places}`) }),
  lmdb: () => LmdbEngine.open({ directory: join(scratch, `home-${++places}`) }),
  level: () => LevelEngine.open({ directory: join(scratch, `home-${++places}`) }),
  'a store far away': () => new DelayedEngine(new MemoryEngine()),
}

async function homeOn(engine: Engine): Promise<Home> {
  const store = new StoreHome(engine)
  stores.push(store)
  const home = new Home(store)
  await home.createVault('base')
  return home
}

const vaultIn = async (home: Home | Promise<Home>) => (await home).vault('base')
const inMemory = () => homeOn(new MemoryEngine())
const suite = (subject: Subject) => fileSystemSuite({ describe, it }, { runs: 20, ...subject })

for (const [name, open] of Object.entries(engines))
  suite({ name: `a vault on ${name}`, create: async () => vaultIn(homeOn(await open())) })

suite({ name: 'a fork of a vault', create: async () => (await inMemory()).fork('base', 'task') })
suite({
  name: 'a fork of a vault at a checkpoint',
  create: async () => {
    const home = await inMemory()
    const base = await home.vault('base')
    await base.checkpoint('empty')
    await base.write('/later', 'x')
    return home.fork('base', 'task', { at: 'empty' })
  },
})
suite({ name: 'a fork in memory', create: async () => (await vaultIn(inMemory())).fork() })
suite({
  name: 'a vault at a checkpoint',
  create: async (seed) => {
    const vault = await vaultIn(inMemory())
    for (const [path, content] of Object.entries(seed)) await vault.write(path, content)
    await vault.checkpoint('seeded')
    await vault.write('/later', 'x')
    return vault.at('seeded')
  },
})
suite({
  name: 'a vault in a MountTable',
  create: async () => new MountTable({ '/': await vaultIn(inMemory()) }),
})
suite({
  name: 'vaults as both layers of an OverlayFs',
  create: async () => new OverlayFs(await vaultIn(inMemory()), await vaultIn(inMemory())),
})
