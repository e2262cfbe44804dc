import { mkdtempSync, rmSync } from 'node:fs'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { afterAll, describe, it } from 'vitest'
import { fileSystemSuite, type Subject } from '../../conformance/index.ts'
import { type Engine, LmdbEngine, MemoryEngine, SqliteEngine, StoreHome } from '../../store/index.ts'
import { MountTable, OverlayFs } from '../../vfs/index.ts'
import { VaultFs } from './index.ts'

const scratch = mkdtempSync(join(tmpdir(), 'coppice-vaults-'))
const homes: StoreHome[] = []
let places = 0
afterAll(async () => {
  for (const home of homes) await home.close()
  rmSync(scratch, { recursive: true, force: true })
})

const engines: Readonly<Record<string, () => Engine | Promise<Engine>>> = {
  memory: () => new MemoryEngine(),
  lmdb: () => LmdbEngine.open({ directory: join(scratch, `home-${++places}`) }),
  sqlite: () => new SqliteEngine({ file: join(scratch, `home-${++places}`) }),
}

function vaultOn(engine: Engine): VaultFs {
  const home = new StoreHome(engine)
  homes.push(home)
  return new VaultFs(home.create('base'), home.blobs)
}

const suite = (subject: Subject) => fileSystemSuite({ describe, it }, { runs: 20, ...subject })

for (const [name, open] of Object.entries(engines))
  suite({ name: `a vault on ${name}`, create: async () => vaultOn(await open()) })

suite({
  name: 'a fork of a vault',
  create: () => {
    const home = new StoreHome(new MemoryEngine())
    home.create('base')
    return new VaultFs(home.fork('base', 'task'), home.blobs)
  },
})
suite({
  name: 'a vault in a MountTable',
  create: () => new MountTable({ '/': vaultOn(new MemoryEngine()) }),
})
suite({
  name: 'vaults as both layers of an OverlayFs',
  create: () => new OverlayFs(vaultOn(new MemoryEngine()), vaultOn(new MemoryEngine())),
})
