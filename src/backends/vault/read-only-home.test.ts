import { execFileSync } from 'node:child_process'
import { chmodSync, cpSync, mkdirSync, mkdtempSync, readdirSync, readFileSync, rmSync } from 'node:fs'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { afterAll, beforeAll, describe, expect, it } from 'vitest'
import { readText } from '../../vfs/index.ts'
import { type Home, openHome } from './index.ts'

const scratch = mkdtempSync(join(tmpdir(), 'coppice-read-only-'))
const disk = join(scratch, 'disk')
const isRoot = process.getuid?.() === 0
const LARGE = 'content of a large file. '.repeat(10_000)
const cases = ['sqlite', 'lmdb', 'level'].flatMap((engine) =>
  ['closed', 'killed'].map((end) => [engine, end]),
)

function runAsRoot(program: string, ...args: string[]): void {
  execFileSync(program, args, { stdio: 'ignore' })
}

/** Root can write anywhere but on a disk that is mounted read-only; others need no more than permissions. */
function canMakeReadOnly(): boolean {
  if (!isRoot) return true
  try {
    mkdirSync(disk)
    runAsRoot('mount', '-t', 'tmpfs', 'none', disk)
    return true
  } catch {
    return false
  }
}

const canMake = canMakeReadOnly()

beforeAll(async () => {
  if (!canMake) return
  mkdirSync(disk, { recursive: true })
  for (const [engine, end] of cases) await makeHome(String(engine), String(end))
  if (isRoot) runAsRoot('mount', '-o', 'remount,ro', disk)
  else changeWritable(disk, false)
})

afterAll(() => {
  if (isRoot && canMake) runAsRoot('umount', '--lazy', disk)
  else if (canMake) changeWritable(disk, true)
  rmSync(scratch, { recursive: true, force: true })
})

/** A home as it is after it was closed, or as a process that was killed leaves it, with changes in logs alone. */
async function makeHome(engine: string, end: string): Promise<void> {
  const path = join(scratch, `${engine}-${end}`)
  const home = await openHome({ path, engine: engine === 'sqlite' || engine === 'lmdb' ? engine : 'level' })
  const vault = await home.createVault('base')
  await vault.write('/docs/large', LARGE)
  await vault.checkpoint('then')
  await vault.write('/late', 'late')
  if (end === 'closed') await home.close()
  cpSync(path, join(disk, `${engine}-${end}`), { recursive: true })
  if (end === 'killed') await home.close()
}

function changeWritable(path: string, isWritable: boolean): void {
  for (const entry of readdirSync(path, { withFileTypes: true })) {
    if (entry.isDirectory()) changeWritable(join(path, entry.name), isWritable)
    else chmodSync(join(path, entry.name), isWritable ? 0o600 : 0o400)
  }
  chmodSync(path, isWritable ? 0o700 : 0o500)
}

function listCopies(): string[] {
  return readdirSync(tmpdir()).filter((name) => name.startsWith('coppice-read-') && !scratch.endsWith(name))
}

describe.skipIf(!canMake).each(cases)('a home on %s that was %s, on a read-only disk', (engine, end) => {
  const path = join(disk, `${engine}-${end}`)
  const refusal = { code: 'EROFS', message: expect.stringContaining(path) }
  const open = (): Promise<Home> => openHome({ path })

  it('can be read completely', async () => {
    const before = readdirSync(path, { recursive: true }).toSorted()
    const copies = listCopies()
    {
      await using home = await open()
      expect(home.isReadOnly).toBe(true)
      const vault = await home.vault('base')
      expect(await readText(vault, '/docs/large')).toBe(LARGE)
      expect(await readText(vault, '/late')).toBe('late')
      expect(await Array.fromAsync(vault.diff('then'))).toMatchObject([{ path: '/late' }])
      expect((await vault.checkpoints()).map(({ name }) => name)).toEqual(['then'])
      expect(await readText(vault.at('then'), '/docs/large')).toBe(LARGE)
      expect((await Array.fromAsync(vault.journal())).length).toBe(2)
      expect(await home.vaults()).toEqual(['base'])
      expect(await home.stats()).toMatchObject({ vaults: 1 })
      expect((await home.fsck()).damaged).toEqual([])
      const out = join(scratch, `out-${engine}-${end}`)
      await home.export('base', out)
      expect(readFileSync(join(out, 'late'), 'utf8')).toBe('late')
    }
    expect(readdirSync(path, { recursive: true }).toSorted()).toEqual(before)
    expect(listCopies()).toEqual(copies)
  })

  it('rejects every change, with the path of the home', async () => {
    await using home = await open()
    const vault = await home.vault('base')
    await expect(vault.write('/late', 'other')).rejects.toMatchObject(refusal)
    await expect(vault.remove('/late')).rejects.toMatchObject(refusal)
    await expect(vault.checkpoint('now')).rejects.toMatchObject(refusal)
    await expect(vault.removeCheckpoint('then')).rejects.toMatchObject(refusal)
    await expect(vault.restore('then')).rejects.toMatchObject(refusal)
    await expect(home.createVault('other')).rejects.toMatchObject(refusal)
    await expect(home.fork('base', 'other')).rejects.toMatchObject(refusal)
    await expect(home.deleteVault('base')).rejects.toMatchObject(refusal)
    await expect(home.gc()).rejects.toMatchObject(refusal)
    expect(await home.vaults()).toEqual(['base'])
    expect(await readText(vault, '/late')).toBe('late')
  })
})
