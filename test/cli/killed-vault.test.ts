import { execFileSync } from 'node:child_process'
import { once } from 'node:events'
import { mkdirSync, readFileSync, rmSync, symlinkSync, writeFileSync } from 'node:fs'
import { join } from 'node:path'
import { beforeEach, describe, expect, it, vi } from 'vitest'
import { openHome } from '../../src/backends/vault/index.ts'
import { Boundary } from '../../src/boundary/index.ts'
import { recoverSessions } from '../../src/workspace/index.ts'
import { whyNoMount } from '../fuse/mounted-vault.ts'
import { LoopDisk } from '../support/loop-disk.ts'
import { whyNoLoopDisk, whyNoOverlay } from '../support/tools.ts'
import { KilledProject } from './killed-project.ts'

const MEGABYTE = 2 ** 20
const noOverlay = whyNoOverlay()
const noFuse = noOverlay ?? whyNoMount()
const SESSIONS = [
  ['overlay', noOverlay],
  ['dir', noOverlay],
  ['fuse', noFuse],
] as const

/** A project that was imported into the vault `base`. */
class KilledVault extends KilledProject {
  static async import(): Promise<KilledVault> {
    const cli = new KilledVault()
    await cli.ok('import', '.', '--vault', 'base')
    return cli
  }

  /** Returns the lines of a command that stores what a killed one left. */
  async recover(): Promise<string> {
    return (await this.run(['vault', 'list'])).stderr
  }

  /** Opens the home as a program does that recovers nothing. */
  async withHome<Result>(
    work: (home: Awaited<ReturnType<typeof openHome>>) => Promise<Result>,
  ): Promise<Result> {
    await using home = await openHome({ path: this.home })
    return await work(home)
  }

  /** Lists the vaults that belong to processes. */
  listOwned(): Promise<string[]> {
    return this.withHome(async (home) => (await home.vaults()).filter((name) => name.startsWith('session-')))
  }

  diff(vault: string): Promise<string> {
    return this.ok('diff', '--vault', vault, '--stat')
  }
}

describe.each(SESSIONS)('a kill of exec --vault in a session of kind %s', (kind, reason) => {
  const title = reason === undefined ? '' : `: ${reason}`
  const test = it.skipIf(reason !== undefined)
  let cli: KilledVault
  const options = ['--vault', 'base', '--session', kind]

  beforeEach(async () => {
    if (reason === undefined) cli = await KilledVault.import()
  })

  test(`loses nothing${title}`, async () => {
    await cli.kill('sed -i s/two/TWO/ a; rm gone; mkdir -p new/deep; echo new > new/deep/file', ...options)
    expect(await cli.recover()).toBe(
      'coppice: a command of base-1 was killed; the fork has its changes now\n',
    )
    expect(await cli.diff('base-1')).toMatch(/^M \/a {2}\+1 -1\nD \/gone.*\nA \/new\/deep\/file/)
    expect(await cli.ok('cat', '/a', '--vault', 'base')).toContain('two')
    expect(cli.listSessions()).toEqual([])
    expect(await cli.listOwned()).toEqual([])
    await cli.ok('merge', 'base-1', 'base')
    expect(await cli.ok('cat', '/new/deep/file', '--vault', 'base')).toBe('new\n')
  })

  test(`leaves nothing if the command changed nothing${title}`, async () => {
    await cli.kill('touch -m a', ...options)
    expect(await cli.recover()).toBe('')
    expect(cli.listSessions()).toEqual([])
    expect(await cli.listOwned()).toEqual([])
    expect(await cli.json('vault', 'list')).toHaveLength(1)
  })

  test(`keeps other permissions and times, which no diff shows${title}`, async () => {
    mkdirSync(join(cli.files, 'sub'), { mode: 0o755 })
    writeFileSync(join(cli.files, 'sub/file'), 'x\n')
    await cli.ok('import', '.', '--vault', 'modes')
    const fork = ['--vault', 'modes', '--session', kind, '--fork', 'fix']
    await cli.kill('chmod 700 sub', ...fork)
    expect(await cli.recover()).toBe('coppice: a command of fix was killed; the fork has its changes now\n')
    await cli.kill('touch -d @1000 sub/file', ...fork)
    expect(await cli.recover()).toBe('coppice: a command of fix was killed; the fork has its changes now\n')
    await cli.kill('cat sub/file > draft; rm draft', ...fork)
    expect(await cli.recover()).toBe('')
    const line = 'stat -c %a sub; stat -c %Y sub/file'
    expect(await cli.ok('exec', '--vault', 'modes', '--fork', 'fix', '-c', '--', line)).toBe('700\n1000\n')
  })

  test(`merges with what others changed in the fork meanwhile${title}`, async () => {
    await cli.run(['exec', ...options, '--fork', 'fix', '-c', '--', 'echo kept > kept; echo before > before'])
    const child = await cli.hold(
      'sed -i s/one/ONE/ a; rm before; echo mine > mine',
      ...options,
      '--fork',
      'fix',
    )
    await cli.run([
      'exec',
      '--vault',
      'base',
      '--fork',
      'fix',
      '-c',
      '--',
      'sed -i s/five/FIVE/ a; echo o > o',
    ])
    child.kill('SIGKILL')
    await once(child, 'exit')
    expect(await cli.recover()).toBe('coppice: a command of fix was killed; the fork has its changes now\n')
    expect(await cli.diff('fix')).toMatch(
      /^M \/a {2}\+2 -2\nA \/kept {2}\+1 -0\nA \/mine {2}\+1 -0\nA \/o {2}\+1 -0\n4 /,
    )
  })

  test(`names the checkpoint with what others changed in the same places${title}`, async () => {
    await cli.run(['exec', ...options, '--fork', 'fix', '-c', '--', 'echo kept > kept'])
    const child = await cli.hold('sed -i s/one/ONE/ a', ...options, '--fork', 'fix')
    await cli.run(['exec', '--vault', 'base', '--fork', 'fix', '-c', '--', 'sed -i s/one/other/ a'])
    child.kill('SIGKILL')
    await once(child, 'exit')
    const [, checkpoint = ''] =
      (await cli.recover()).match(/its changes now; what others changed .* is in the checkpoint (\S+)\n$/) ??
      []
    expect(await cli.ok('cat', '/a', '--vault', 'fix')).toContain('ONE')
    expect(await cli.ok('cat', '/a', '--vault', 'fix', '--at', checkpoint)).toContain('other')
  })

  test(`keeps the changes apart from a fork that took its name meanwhile${title}`, async () => {
    const child = await cli.hold('echo mine > mine', ...options, '--fork', 'fix')
    await cli.run(['exec', '--vault', 'base', '--fork', 'fix', '-c', '--', 'echo other > other'])
    child.kill('SIGKILL')
    await once(child, 'exit')
    expect(await cli.recover()).toContain('a command of fix-1 was killed; the fork has its changes now')
    expect(await cli.diff('fix')).toMatch(/^A \/other.*\n1 path/)
    expect(await cli.diff('fix-1')).toMatch(/^A \/mine.*\n1 path/)
  })

  test(`is reported with the paths that no vault can keep${title}`, async () => {
    await cli.kill('echo new > new; mkfifo pipe', ...options)
    expect(await cli.recover()).toMatch(
      /^coppice: a command of base-1 was killed; the fork has its changes now\ncoppice: not kept: \/pipe; /,
    )
    expect(await cli.diff('base-1')).toMatch(/^A \/new.*\n1 path/)
  })

  test(`is recovered after other processes have used the home, and without the vault${title}`, async () => {
    await cli.kill('sed -i s/two/TWO/ a; rm gone', ...options)
    await cli.withHome(async (home) => {
      await (await home.vault('base')).write('/a', 'another\n')
      await (await home.vault('base')).write('/later', 'later\n')
      const boundary = await Boundary.open(home)
      // It gets the checkout of the killed command, and updates it.
      await boundary.run({ vault: 'base', command: { argv: ['true'] } }, { env: { PATH: '/usr/bin:/bin' } })
      await home.deleteVault('base')
    })
    expect(await cli.recover()).toContain('a command of base-1 was killed; the fork has its changes now')
    expect(await cli.ok('ls', '/', '--vault', 'base-1')).toBe('a\n')
    expect(await cli.ok('cat', '/a', '--vault', 'base-1')).toContain('TWO')
  })

  test(`replaces nothing that others change after they are stored${title}`, async () => {
    const fork = [...options, '--fork', 'fix']
    await cli.run(['exec', ...fork, '-c', '--', 'echo kept > kept'])
    await cli.kill('sed -i s/one/ONE/ a', ...fork)
    // The fork has the changes, and the record of the session says so.
    await cli.killAt('renameSync:/fork.json.draft', ['vault', 'list'])
    await cli.withHome(async (home) => {
      await (await home.vault('fix')).write('/a', 'of another\n')
    })
    expect(await cli.recover()).toBe('coppice: a command of fix was killed; the fork has its changes now\n')
    expect(await cli.ok('cat', '/a', '--vault', 'fix')).toBe('of another\n')
    await cli.ok('gc')
    expect(cli.listSessions()).toEqual([])
    expect(await cli.listOwned()).toEqual([])
  })

  test(`is recovered after another kill at each step of storing${title}`, async () => {
    const line = 'sed -i s/two/TWO/ a; rm gone'
    const exec = ['exec', ...options, '--fork', 'fix', '-c', '--', line]
    // The fork exists, and has no changes yet.
    await cli.killAt('renameSync:/fork.json.draft:2', exec)
    expect(await cli.recover()).toBe('coppice: a command of fix was killed; the fork has its changes now\n')
    expect(await cli.diff('fix')).toMatch(/^M \/a {2}\+1 -1\nD \/gone {2}\+0 -1\n2 path/)
    await cli.kill('echo new > new', ...options)
    await cli.killAt('renameSync:/fork.json.draft', ['vault', 'list'])
    // The fork has the changes, and the files of the session are there.
    await cli.killAt('rmSync:/fork.json', ['vault', 'list'])
    expect(await cli.recover()).toBe('')
    expect(await cli.diff('base-1')).toMatch(/^A \/new {2}\+1 -0\n1 path/)
    expect(await cli.json('vault', 'list')).toHaveLength(3)
    await cli.ok('gc')
    expect(await cli.listOwned()).toEqual([])
    expect(cli.listSessions()).toEqual([])
  })
})

describe.skipIf(noOverlay !== undefined)('a killed command in a vault', () => {
  it.each(['overlay', 'dir'])('stores no placeholder of a secret in a session of kind %s', async (kind) => {
    const cli = new KilledVault()
    writeFileSync(join(cli.files, '.env'), 'TOKEN=secret-value-1\nMODE=one\n')
    await cli.ok('import', '.', '--vault', 'base')
    const options = ['--vault', 'base', '--session', kind, '--mask']
    await cli.kill('cat .env > /dev/null; echo MORE=2 >> .env', ...options, '--fork', 'fix')
    await cli.recover()
    expect(await cli.ok('cat', '/.env', '--vault', 'fix')).toBe('TOKEN=secret-value-1\nMODE=one\nMORE=2\n')
    await cli.kill('cat .env > /dev/null; echo x > x', ...options, '--fork', 'fix')
    await cli.recover()
    expect(await cli.diff('fix')).toMatch(/^M \/\.env {2}\+1 -0\nA \/x {2}\+1 -0\n2 path/)
    expect(cli.listSessions()).toEqual([])
  })

  it('is collected when its whole process group is killed', async () => {
    const cli = await KilledVault.import()
    const child = cli.start(['exec', '--vault', 'base', '-c', '--', 'echo new > new; echo done; sleep 600'], {
      isGroup: true,
    })
    await once(child.stdout, 'data')
    process.kill(-(child.pid ?? 0), 'SIGKILL')
    await once(child, 'exit')
    expect(await cli.recover()).toContain('a command of base-1 was killed; the fork has its changes now')
    expect(await cli.diff('base-1')).toMatch(/^A \/new/)
  })

  it('is collected at once when only the process around it is killed', async () => {
    const cli = await KilledVault.import()
    const child = await cli.hold('echo new > new', '--vault', 'base')
    const ended = once(child, 'exit')
    for (const pid of listChildren(child.pid ?? 0)) process.kill(pid, 'SIGKILL')
    const [code] = await ended
    expect(code).not.toBe(0)
    expect(await cli.recover()).toBe('')
    expect(await cli.diff('base-1')).toMatch(/^A \/new/)
  })

  it.skipIf(noFuse !== undefined)('counts as stored also if a sweep removes its vaults first', async () => {
    const cli = await KilledVault.import()
    await cli.kill('echo new > new', '--vault', 'base', '--session', 'fuse')
    const outcomes = await cli.withHome((home) => {
      const deleteVault = home.deleteVault.bind(home)
      vi.spyOn(home, 'deleteVault').mockImplementation(async (name) => {
        await deleteVault(name)
        await deleteVault(name)
      })
      return recoverSessions(home, cli.home)
    })
    expect(outcomes).toMatchObject([{ fork: 'base-1', changes: 1 }])
    expect(await cli.diff('base-1')).toMatch(/^A \/new/)
  })

  it.skipIf(whyNoLoopDisk() !== undefined)(
    'waits where a full disk has no room for its changes',
    async () => {
      const cli = new KilledVault()
      using disk = new LoopDisk(160)
      const home = ['--home', join(disk.path, 'home')]
      const ballast = join(disk.path, 'ballast')
      await cli.ok('import', '.', '--vault', 'base', ...home)
      writeFileSync(ballast, Buffer.alloc(110 * MEGABYTE, 1))
      const line = 'head -c 25M /dev/urandom > big'
      const run = await cli.run(['exec', '--vault', 'base', '-c', ...home, '--', line])
      expect(run.stderr).toMatch(/could not be kept: .*; a later coppice command tries again; free space on/)
      rmSync(ballast)
      expect((await cli.run(['vault', 'list', ...home])).stderr).toContain('the fork has its changes now')
      expect(await cli.ok('diff', '--vault', 'base-1', '--stat', ...home)).toContain('A /big')
    },
  )
})

describe.skipIf(noOverlay !== undefined)('a kill of exec in a private copy of a directory', () => {
  const options = ['--session', 'dir', '--fork', 'fix']

  it('loses nothing, and takes nothing that others changed in the directory for its own', async () => {
    const cli = new KilledProject()
    writeFileSync(join(cli.files, 'edited'), 'mine\n')
    await cli.run(['exec', ...options, '-c', '--', 'echo before > before'])
    const child = await cli.hold(
      'sed -i s/two/TWO/ a; rm gone before; mkdir new; echo new > new/file',
      ...options,
    )
    writeFileSync(join(cli.files, 'edited'), 'edited meanwhile\n')
    writeFileSync(join(cli.files, 'created'), 'created meanwhile\n')
    child.kill('SIGKILL')
    await once(child, 'exit')
    expect((await cli.run(['forks'])).stderr).toBe(
      'coppice: a command of fix was killed; the fork has its changes now\n',
    )
    expect(await cli.ok('diff', 'fix', '--stat')).toMatch(
      /^M \/a {2}\+1 -1\nD \/gone {2}\+0 -1\nA \/new\/file {2}\+1 -0\n3 path/,
    )
    await cli.ok('apply', 'fix')
    expect(readFileSync(join(cli.files, 'edited'), 'utf8')).toBe('edited meanwhile\n')
    expect(readFileSync(join(cli.files, 'created'), 'utf8')).toBe('created meanwhile\n')
  })

  it('stores no placeholder of a secret', async () => {
    const cli = new KilledProject()
    writeFileSync(join(cli.files, '.env'), 'TOKEN=secret-value-1\nMODE=one\n')
    await cli.kill('echo MORE=2 >> .env', '--mask', ...options)
    await cli.run(['forks'])
    await cli.ok('apply', 'fix', '--', '.env')
    expect(readFileSync(join(cli.files, '.env'), 'utf8')).toBe('TOKEN=secret-value-1\nMODE=one\nMORE=2\n')
  })

  it('loses nothing if the user then removes or replaces files whose copies the command touched', async () => {
    const cli = new KilledProject()
    const at = (name: string) => join(cli.files, name)
    for (const name of ['linked', 'piped']) writeFileSync(at(name), 'x\n')
    symlinkSync('a', at('link'))
    const touched = ['a', 'gone', 'linked', 'piped', 'link']
    await cli.kill(
      `for name in ${touched.join(' ')}; do ln -P $name $name-2; done; echo new > new`,
      ...options,
    )
    for (const name of touched) rmSync(at(name))
    mkdirSync(at('gone'))
    symlinkSync('elsewhere', at('linked'))
    execFileSync('mkfifo', [at('piped')])
    writeFileSync(at('link'), 'a file now\n')
    expect((await cli.run(['forks'])).stderr).toContain('the fork has its changes now')
    expect(await cli.ok('cat', '/new', '--vault', 'fix')).toBe('new\n')
    for (const name of touched) expect(await cli.ok('diff', 'fix', '--stat')).toContain(`A /${name}-2`)
  })

  it('is reported if the record of the copied files is missing', async () => {
    const cli = new KilledProject()
    await cli.kill('echo new > new', ...options)
    const [left = ''] = cli.listSessions()
    rmSync(join(cli.home, 'sessions', left, 'copied.json'))
    expect((await cli.run(['forks'])).stderr).toMatch(
      /a command of fix was killed, and its changes cannot be stored: .* has no record of the copied files; they stay in/,
    )
  })
})

/** Lists the children of a process. */
function listChildren(pid: number): number[] {
  const found = execFileSync('ps', ['-o', 'pid=', '--ppid', `${pid}`], { encoding: 'utf8' })
  return found
    .split('\n')
    .filter((line) => line.trim() !== '')
    .map(Number)
}
