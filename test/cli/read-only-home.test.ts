import { spawnSync } from 'node:child_process'
import { mkdirSync } from 'node:fs'
import { join } from 'node:path'
import { expect, it, onTestFinished } from 'vitest'
import { Cli } from './run-cli.ts'

function mount(...args: string[]): boolean {
  return spawnSync('mount', args, { stdio: 'ignore' }).status === 0
}

/** Mounts a home read-only at a second place; undefined if this machine does not let the test mount. */
function mountReadOnly(cli: Cli): string | undefined {
  const place = join(cli.scratch, 'read-only')
  mkdirSync(place)
  if (!mount('--bind', cli.home, place)) return undefined
  onTestFinished(() => void spawnSync('umount', ['--lazy', place]))
  return mount('-o', 'remount,bind,ro', place) ? place : undefined
}

it('says that a read-only home cannot be written, and names no internal file', async (test) => {
  const cli = new Cli()
  await cli.ok('vault', 'create', 'base')
  // A first command leaves what a home has besides its store.
  await cli.run(['exec', '--', 'true'])
  const home = mountReadOnly(cli)
  if (home === undefined) return test.skip('needs root and mount')
  const env = { COPPICE_HOME: home }
  for (const args of [
    ['exec', '--', 'ls'],
    ['exec', '--vault', 'base', '--', 'ls'],
    ['exec', '-n', '2', '--', 'ls'],
    ['tool', 'call', 'vfs_list'],
    ['mcp'],
    ['write', '/x', '--text', 'x', '--vault', 'base'],
  ]) {
    const { code, stderr } = await cli.run(args, { env })
    expect([code, stderr], args.join(' ')).toEqual([
      1,
      expect.stringMatching(new RegExp(`coppice: the home ${home} cannot be written[;,]`)),
    ])
    expect(stderr, args.join(' ')).not.toMatch(/EROFS|running/)
  }
})
