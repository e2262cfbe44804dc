import { randomBytes } from 'node:crypto'
import { statfsSync, writeFileSync } from 'node:fs'
import { join } from 'node:path'
import { describe, expect, it } from 'vitest'
import { openHome } from '../../src/backends/vault/index.ts'
import { type EngineName, engineNames } from '../support/engines.ts'
import { LoopDisk } from '../support/loop-disk.ts'
import { whyNoLoopDisk } from '../support/tools.ts'
import { Cli } from './run-cli.ts'

const FILE_BYTES = 200_000
const MEGABYTE = 2 ** 20

const reason = whyNoLoopDisk()
describe.skipIf(reason !== undefined)(`commands on a full disk${reason ? ` (${reason})` : ''}`, () => {
  it.each(engineNames)('on %s remove, drop, delete and collect as the message advises', async (engine) => {
    const cli = new Cli()
    using disk = new LoopDisk(64)
    const home = ['--home', join(disk.path, 'home')]
    await cli.ok('vault', 'create', 'base', '--engine', engine, ...home)
    await cli.ok('vault', 'create', 'other', ...home)
    await cli.ok('fork', 'base', 'work', ...home)
    const files = await fill(join(disk.path, 'home'), engine)
    // Another program leaves a megabyte, and then nothing.
    takeAllBut(MEGABYTE, disk.path, 'ballast')
    const input = 'x'.repeat(FILE_BYTES)
    const refused = await cli.run(['write', '/more', '--vault', 'base', ...home], { input })
    expect(refused.code).toBe(1)
    expect(refused.stderr).toMatch(/^coppice: .*disk is full.*coppice gc --keep-history 0h\n$/)
    await cli.ok('rm', `/${files[0]}`, '--vault', 'base', ...home)
    await cli.ok('gc', '--keep-history', '0h', ...home)
    takeAllBut(0, disk.path, 'more-ballast')
    await cli.ok('rm', `/${files[1]}`, '--vault', 'base', ...home)
    // Files can be copied to another disk, and compared.
    expect(await cli.ok('export', join(cli.scratch, 'out'), '--vault', 'base', ...home)).toContain('exported')
    expect(await cli.ok('diff', 'vault:other', '--vault', 'base', ...home)).toContain(`D /${files[1]}\n`)
    expect(await cli.ok('send', '--vault', 'base', ...home)).toMatch(/^coppice\n/)
    await cli.ok('drop', 'work', ...home)
    await cli.ok('vault', 'delete', 'other', '--yes', ...home)
    const paths = files.slice(2, -1).map((file) => `/${file}`)
    await cli.ok('rm', ...paths, '--vault', 'base', ...home)
    await cli.ok('gc', '--keep-history', '0h', ...home)
    // The freed space is available to the next command.
    expect(await cli.run(['write', '/more', '--vault', 'base', ...home], { input })).toMatchObject({
      code: 0,
    })
    expect((await cli.ok('cat', `/${files.at(-1)}`, '--vault', 'base', ...home)).length).toBeGreaterThan(0)
  })
})

/** Fills the vaults of a home in turn until the disk is full; returns the files of the first. */
async function fill(path: string, engine: EngineName): Promise<string[]> {
  await using home = await openHome({ path, engine })
  const vaults = await Promise.all(['base', 'work', 'other'].map((name) => home.vault(name)))
  const files: string[] = []
  const isFull = ({ code }: { code?: string }) => code === 'ENOSPC'
  for (let index = 0; ; index++) {
    for (const [at, vault] of vaults.entries()) {
      const failure = await vault.write(`/f${index}`, randomBytes(FILE_BYTES)).then(
        () => undefined,
        (error) => error,
      )
      if (failure !== undefined) {
        expect(failure).toSatisfy(isFull)
        return files
      }
      if (at === 0) files.push(`f${index}`)
    }
  }
}

/** Writes a file until the disk has only this much space left. */
function takeAllBut(bytes: number, directory: string, name: string): void {
  const piece = Buffer.alloc(4096)
  try {
    for (;;) {
      const { bavail, bsize } = statfsSync(directory)
      if (bavail * bsize <= bytes) return
      writeFileSync(join(directory, name), piece, { flag: 'a' })
    }
  } catch {
    // The disk is full.
  }
}
