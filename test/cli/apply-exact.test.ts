import { spawnSync } from 'node:child_process'
import { chmodSync, chownSync, lstatSync, mkdirSync, writeFileSync } from 'node:fs'
import { join } from 'node:path'
import { describe, expect, it } from 'vitest'
import { type Run, root } from '../support/run-node.ts'
import { whyNoOverlay, whyNotNobody } from '../support/tools.ts'
import { Cli } from './run-cli.ts'

const NOBODY = 65_534
/** A group that nobody has beside their own. */
const SHARED = 4242
const isRoot = process.getuid?.() === 0

/** Runs the program as nobody, who has one more group. */
function asNobody(cli: Cli, ...args: string[]): Run {
  const become = [`--reuid=${NOBODY}`, `--regid=${NOBODY}`, `--groups=${NOBODY},${SHARED}`]
  const env = { ...process.env, NODE_OPTIONS: '', COPPICE_HOME: cli.home, HOME: cli.scratch }
  const words = [...become, process.execPath, join(root, 'bin/coppice.js'), ...args]
  const { status, stdout, stderr } = spawnSync('setpriv', words, { cwd: cli.files, env, encoding: 'utf8' })
  return { code: status, stdout, stderr }
}

function ownerOf(cli: Cli, path: string): string {
  const { uid, gid, mode } = lstatSync(join(cli.files, path))
  return `${uid}:${gid} ${(mode & 0o7777).toString(8)}`
}

describe.skipIf(!isRoot)('the owners of what apply writes', () => {
  it.skipIf(whyNoOverlay() !== undefined)(
    'are those the command gave, of directories too, also when it is taken back',
    async () => {
      const cli = new Cli()
      mkdirSync(join(cli.files, 'old/in'), { recursive: true })
      chownSync(join(cli.files, 'old/in'), 1, 2)
      const script =
        'rm -r old; mkdir -p new/in; echo x > new/in/x; ln -s x new/in/l; chown -hR 7:8 new; chmod 750 new'
      await cli.run(['exec', '--fork', 'task', '-c', '--', script])
      await cli.ok('apply')
      expect(ownerOf(cli, 'new')).toBe('7:8 750')
      for (const path of ['new/in', 'new/in/x', 'new/in/l']) expect(ownerOf(cli, path)).toMatch(/^7:8 /)
      await cli.ok('apply', '--undo')
      expect(ownerOf(cli, 'old/in')).toBe('1:2 755')
    },
  )

  it.skipIf(whyNotNobody() !== undefined)('stay with a group that the user has', () => {
    const cli = new Cli()
    mkdirSync(join(cli.files, 'team'))
    writeFileSync(join(cli.files, 'team/a'), 'one\n')
    for (const path of [cli.scratch, cli.files]) chownSync(path, NOBODY, NOBODY)
    for (const path of ['team', 'team/a']) chownSync(join(cli.files, path), NOBODY, SHARED)
    chmodSync(join(cli.files, 'team'), 0o2775)
    const script = 'echo two >> team/a; mkdir team/d; echo b > team/d/b; echo c > c'
    const exec = ['exec', '--session', 'dir', '--fork', 'task', '-c', '--']
    expect(asNobody(cli, ...exec, script)).toMatchObject({ code: 0 })
    // They come into the copy for the next command as well.
    expect(asNobody(cli, ...exec, 'echo three >> team/a')).toMatchObject({ code: 0 })
    expect(asNobody(cli, 'apply')).toMatchObject({ code: 0, stderr: '' })
    expect(['team/a', 'team/d', 'team/d/b', 'c'].map((path) => ownerOf(cli, path))).toEqual([
      `${NOBODY}:${SHARED} 644`,
      `${NOBODY}:${SHARED} 2755`,
      `${NOBODY}:${SHARED} 644`,
      `${NOBODY}:${NOBODY} 644`,
    ])
  })
})
