import { mkdirSync, mkdtempSync, readdirSync, rmSync } from 'node:fs'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { expect, it, onTestFinished } from 'vitest'
import { type Home, openHome } from '../../backends/vault/index.ts'
import { Checkouts } from '../checkout/index.ts'
import { LinkedDirectory, type LinkedFork } from '../link/index.ts'
import { sweepHome } from './sweep-home.ts'

async function openScratch(): Promise<{ path: string; files: string; home: Home }> {
  const scratch = mkdtempSync(join(tmpdir(), 'coppice-sweep-'))
  const [path, files] = [join(scratch, 'home'), join(scratch, 'files')]
  mkdirSync(files)
  const home = await openHome({ path })
  onTestFinished(async () => {
    await home.close()
    rmSync(scratch, { recursive: true, force: true })
  })
  return { path, files, home }
}

it('removes a checkout when all vaults of its origin are deleted', async () => {
  const { path, home } = await openScratch()
  await (await home.createVault('base')).write('/a', 'one\n')
  await home.fork('base', 'task')
  const checkouts = join(path, 'checkouts')
  await (await new Checkouts(home, checkouts).acquire('task'))[Symbol.asyncDispose]()
  await home.deleteVault('base')
  expect(await sweepHome(home, path)).toMatchObject({ checkouts: 0, hiddenVaults: 0, sessions: 0 })
  await home.deleteVault('task')
  expect(await sweepHome(home, path)).toMatchObject({ checkouts: 1, hiddenVaults: 1, sessions: 0 })
  expect(readdirSync(checkouts)).toEqual([])
  expect(await home.vaults()).toEqual([])
})

it('keeps a checkout in use', async () => {
  const { path, home } = await openScratch()
  await (await home.createVault('base')).write('/a', 'one\n')
  const checkout = await new Checkouts(home, join(path, 'checkouts')).acquire('base')
  await home.deleteVault('base')
  expect(await sweepHome(home, path)).toMatchObject({ checkouts: 0, hiddenVaults: 0 })
  expect(readdirSync(checkout.path)).toEqual(['a'])
  await checkout[Symbol.asyncDispose]()
  expect(await sweepHome(home, path)).toMatchObject({ checkouts: 1, hiddenVaults: 1 })
})

it('removes the mirror of a directory and its undo record with its fork, and no other', async () => {
  const { path, files, home } = await openScratch()
  const link = new LinkedDirectory(home, files)
  const gone = await makeFork(link, 'gone')
  const kept = await makeFork(link, 'kept')
  await link.apply(gone)
  expect(await sweepHome(home, path)).toMatchObject({ hiddenVaults: 0 })
  await home.deleteVault(gone.name)
  expect(await sweepHome(home, path)).toMatchObject({ hiddenVaults: 2 })
  expect(await home.vaults()).toEqual([kept.name, kept.mirror].sort())
  await link.apply(kept)
  expect(readdirSync(files).sort()).toEqual(['gone', 'kept'])
})

/** Creates a fork of a directory with one new directory. */
async function makeFork(link: LinkedDirectory, name: string): Promise<LinkedFork> {
  const owner = { uid: process.getuid?.() ?? 0, gid: process.getgid?.() ?? 0 }
  const made = { path: `/${name}`, type: 'directory', host: link.path, mode: 0o755, mtimeNs: 0n } as const
  const fork = await link.collect({ name, changes: [{ kind: 'put', ...made, ...owner }], since: 0n })
  if (fork === undefined) throw new Error('no fork was made')
  return fork
}
