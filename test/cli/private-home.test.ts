import { spawnSync } from 'node:child_process'
import { chmodSync, chownSync, lstatSync, mkdirSync, readdirSync, statSync, writeFileSync } from 'node:fs'
import { join } from 'node:path'
import { describe, expect, it } from 'vitest'
import { PROGRAM } from '../mcp/mcp-client.ts'
import { engineNames } from '../support/engines.ts'
import { whyNoOverlay, whyNotNobody } from '../support/tools.ts'
import { Cli } from './run-cli.ts'

const NOBODY = 65_534
const OTHERS = 0o077
/** Files of a vault keep their permissions; the directory above them is closed to others. */
const VAULT_FILES = /^(?:checkouts|sessions)\/[^/]+\/(?:tree|upper|work)(?:\/|$)/

interface As {
  readonly uid?: number
  readonly umask?: string
  readonly cwd?: string
}

/** Runs the program on a home as another user, or under another umask. */
function run(cli: Cli, { uid = 0, umask = '022', cwd = '/' }: As, ...args: string[]) {
  const env = { PATH: process.env['PATH'] ?? '', COPPICE_HOME: cli.home, HOME: '/nonexistent' }
  const words = ['-c', `umask ${umask}; exec "$@"`, 'sh', ...PROGRAM, ...args]
  const user = process.getuid?.() === 0 ? { uid, gid: uid } : {}
  const { status, stdout, stderr } = spawnSync('sh', words, { ...user, cwd, env, encoding: 'utf8' })
  return { status, stdout, stderr }
}

/** Lists everything in a home that others have permissions on. */
function openIn(home: string): string[] {
  const names = ['.', ...readdirSync(home, { recursive: true, encoding: 'utf8' })]
  return names.filter((name) => {
    const found = lstatSync(join(home, name))
    return !VAULT_FILES.test(name) && !found.isSymbolicLink() && (found.mode & OTHERS) !== 0
  })
}

describe('a home', () => {
  it.each(engineNames)('is private to its owner from the first moment, whatever the umask: %s', (engine) => {
    const cli = new Cli()
    const free = { umask: '000' }
    const create = ['vault', 'create', 'base', '--engine', engine]
    expect(run(cli, free, ...create)).toMatchObject({ status: 0, stderr: '' })
    expect(run(cli, free, 'write', '/.env', '--text', 'KEY=1')).toMatchObject({ status: 0, stderr: '' })
    expect(run(cli, free, 'vault', 'use', 'base')).toMatchObject({ status: 0, stderr: '' })
    expect(openIn(cli.home)).toEqual([])
  })

  it.skipIf(whyNoOverlay())('stays private while commands run in it', () => {
    const cli = new Cli()
    const free = { umask: '000' }
    expect(run(cli, free, 'vault', 'create', 'base')).toMatchObject({ status: 0 })
    expect(run(cli, free, 'write', '/f', '--text', 'x')).toMatchObject({ status: 0 })
    const command = ['exec', '--vault', 'base', '--', 'sh', '-c', 'cat f; echo y > g']
    expect(run(cli, free, ...command)).toMatchObject({ status: 0 })
    const inProject = { ...free, cwd: makeProject(cli) }
    expect(run(cli, inProject, 'exec', '--', 'sh', '-c', 'echo y > g')).toMatchObject({ status: 0 })
    expect(run(cli, inProject, 'apply')).toMatchObject({ status: 0 })
    expect(run(cli, free, 'ps')).toMatchObject({ status: 0 })
    expect(run(cli, free, 'daemon', 'stop')).toMatchObject({ status: 0 })
    expect(openIn(cli.home)).toEqual([])
    // Nothing that commands leave is taken for the user's, who may share the directory.
    chmodSync(cli.home, 0o755)
    expect(run(cli, free, 'vault', 'list')).toMatchObject({ status: 0 })
    expect(openIn(cli.home)).toEqual([])
  })

  it.each(engineNames)('is closed to others when its owner opens it: %s', async (engine) => {
    const cli = new Cli()
    await cli.ok('vault', 'create', 'base', '--engine', engine)
    open(cli.home)
    const { code, stderr } = await cli.run(['ls'])
    expect(code).toBe(0)
    expect(stderr).toMatch(/^coppice: other users of this machine could read .* until now; .* credentials/)
    expect(openIn(cli.home)).toEqual([])
    expect(await cli.ok('ls')).toBe('')
  })

  it('is closed by doctor, which reports it', async () => {
    const cli = new Cli()
    await cli.ok('vault', 'create', 'base')
    expect(await cli.ok('doctor')).toMatch(/^yes +private home +only its owner may read/m)
    open(cli.home)
    expect(await cli.ok('doctor')).toMatch(/^yes +private home +other users .* could read .* until now/m)
    expect(openIn(cli.home)).toEqual([])
    chmodSync(cli.scratch, 0o777)
    open(cli.home)
    expect(await cli.ok('doctor')).toMatch(
      /^no +private home +every user may write to .* replace the home; other users .* could read .* until now/m,
    )
  })

  it('closes only its own files in a directory with other files', async () => {
    const cli = new Cli()
    mkdirSync(cli.home)
    writeFileSync(join(cli.home, 'README.md'), '# Shop\n', { mode: 0o644 })
    const own = ['agents', 'profiles', 'scripts', 'skills']
    for (const name of own) mkdirSync(join(cli.home, name))
    for (const name of ['.', ...own]) chmodSync(join(cli.home, name), 0o755)
    await cli.ok('vault', 'create', 'base')
    expect(openIn(cli.home).sort()).toEqual(['.', 'README.md', ...own])
  })
})

describe.skipIf(whyNotNobody())('a home of another user', () => {
  it('is neither read, nor held, nor written to', async () => {
    const cli = new Cli()
    chmodSync(cli.scratch, 0o755)
    await cli.ok('vault', 'create', 'base')
    const script = 'cat "$1"; exec 9>>"$1"'
    const words = ['-c', script, 'sh', join(cli.home, 'store.db')]
    const { stdout, stderr } = spawnSync('sh', words, { uid: NOBODY, gid: NOBODY, encoding: 'utf8' })
    expect({ stdout, stderr: stderr.match(/Permission denied/g)?.length }).toEqual({ stdout: '', stderr: 2 })
  })

  it('is refused if it could capture the writes of others', () => {
    const cli = new Cli()
    chmodSync(cli.scratch, 0o755)
    mkdirSync(cli.home)
    chownSync(cli.home, 1234, 1234)
    chmodSync(cli.home, 0o777)
    const { status, stderr } = run(cli, { uid: NOBODY }, 'vault', 'create', 'base')
    expect(status).toBe(1)
    expect(stderr).toContain(`${cli.home} belongs to user 1234`)
    expect(readdirSync(cli.home)).toEqual([])
  })

  it.each(engineNames)('keeps its owner when root works in it: %s', (engine) => {
    const cli = new Cli()
    chmodSync(cli.scratch, 0o755)
    mkdirSync(cli.home)
    chownSync(cli.home, NOBODY, NOBODY)
    expect(run(cli, {}, 'vault', 'create', 'base', '--engine', engine)).toMatchObject({ status: 0 })
    expect(run(cli, {}, 'write', '/f', '--text', 'x')).toMatchObject({ status: 0 })
    expect(run(cli, {}, 'exec', '--vault', 'base', '--', 'true')).toMatchObject({ status: 0 })
    // LevelDB keeps no forks of directories.
    if (engine !== 'level') {
      const inProject = { cwd: makeProject(cli) }
      expect(run(cli, inProject, 'exec', '--', 'sh', '-c', 'echo y > g')).toMatchObject({ status: 0 })
      expect(run(cli, inProject, 'apply')).toMatchObject({ status: 0 })
    }
    const foreign = readdirSync(cli.home, { recursive: true, encoding: 'utf8' }).filter(
      (name) => !VAULT_FILES.test(name) && statSync(join(cli.home, name)).uid !== NOBODY,
    )
    expect(foreign).toEqual([])
    expect(run(cli, { uid: NOBODY }, 'cat', '--vault', 'base', '/f')).toMatchObject({
      status: 0,
      stdout: 'x\n',
    })
    expect(run(cli, { uid: NOBODY }, 'write', '--vault', 'base', '/f', '--text', 'y')).toMatchObject({
      status: 0,
      stderr: '',
    })
  })
})

/** A directory outside of the home, to run commands in. */
function makeProject(cli: Cli): string {
  const project = join(cli.scratch, 'project')
  mkdirSync(project)
  return project
}

/** Opens a home to others, as older versions created it. */
function open(home: string): void {
  for (const name of ['.', ...readdirSync(home, { recursive: true, encoding: 'utf8' })]) {
    const path = join(home, name)
    chmodSync(path, lstatSync(path).isDirectory() ? 0o755 : 0o644)
  }
}
