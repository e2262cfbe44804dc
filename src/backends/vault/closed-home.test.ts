import { mkdtempSync, rmSync } from 'node:fs'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { describe, expect, it, onTestFinished } from 'vitest'
import { readText } from '../../vfs/index.ts'
import { type Home, openHome, type Vault } from './index.ts'

const LARGE = 'content of a large file. '.repeat(50_000)

async function openVault(engine: 'sqlite' | 'lmdb' | 'level' | 'memory'): Promise<[Home, Vault]> {
  const path = mkdtempSync(join(tmpdir(), 'coppice-closed-'))
  onTestFinished(() => rmSync(path, { recursive: true, force: true }))
  const home = await openHome(engine === 'memory' ? {} : { path, engine })
  const vault = await home.createVault('base')
  await vault.write('/a', 'a')
  return [home, vault]
}

const operations: readonly [name: string, work: (home: Home, vault: Vault) => Promise<unknown>][] = [
  ['write', (_, vault) => vault.write('/b', 'b')],
  ['write of a large file', (_, vault) => vault.write('/b', LARGE)],
  ['mkdir', (_, vault) => vault.mkdir('/d')],
  ['remove', (_, vault) => vault.remove('/a')],
  ['stat', (_, vault) => vault.stat('/a')],
  ['read', (_, vault) => readText(vault, '/a')],
  ['readdir', (_, vault) => Array.fromAsync(vault.readdir('/'))],
  ['checkpoint', (_, vault) => vault.checkpoint('then')],
  ['vaults', async (home) => home.vaults()],
  ['vault', (home) => home.vault('base')],
  ['createVault', (home) => home.createVault('new')],
  ['fork', (home) => home.fork('base', 'task')],
]

describe.each(['sqlite', 'lmdb', 'level', 'memory'] as const)('a closed home on %s', (engine) => {
  it.each(operations)('rejects %s with EBADF, which says that it is closed', async (_name, work) => {
    const [home, vault] = await openVault(engine)
    await home.close()
    await expect(work(home, vault)).rejects.toMatchObject({
      code: 'EBADF',
      detail: 'the home is closed; open it again',
    })
  })

  it('can be closed twice', async () => {
    const [home] = await openVault(engine)
    await home.close()
    await expect(home.close()).resolves.toBeUndefined()
  })
})
