import { once } from 'node:events'
import { existsSync, mkdirSync, readFileSync, renameSync, rmSync, utimesSync, writeFileSync } from 'node:fs'
import { join } from 'node:path'
import { describe, expect, it } from 'vitest'
import { openHome } from '../../src/backends/vault/index.ts'
import { Boundary } from '../../src/boundary/index.ts'
import { LoopDisk } from '../support/loop-disk.ts'
import { runAsOrdinaryUser } from '../support/ordinary-user.ts'
import { whyNoLoopDisk, whyNoOverlay, whyNotNobody } from '../support/tools.ts'
import { KilledProject } from './killed-project.ts'
import { Cli } from './run-cli.ts'

const MEGABYTE = 2 ** 20
const reason = whyNoOverlay()

describe.skipIf(reason !== undefined)(`a kill of coppice exec${reason ? `: ${reason}` : ''}`, () => {
  it('loses nothing: the next command stores the changes in the fork', async () => {
    const cli = new KilledProject()
    await cli.kill('sed -i s/two/TWO/ a; rm gone; mkdir -p new/deep; echo new > new/deep/file')
    const forks = await cli.run(['forks'])
    expect(forks.stderr).toBe('coppice: a command of files-1 was killed; the fork has its changes now\n')
    expect(forks.stdout).toContain('files-1')
    expect(await cli.ok('diff', '--stat')).toMatch(/^M \/a {2}\+1 -1\nD \/gone.*\nA \/new\/deep\/file/)
    expect(readFileSync(join(cli.files, 'a'), 'utf8')).toContain('two')
    expect(cli.listSessions()).toEqual([])
    await cli.ok('apply')
    expect(readFileSync(join(cli.files, 'new/deep/file'), 'utf8')).toBe('new\n')
  })

  it('keeps the changes of an existing fork, and those that others made in it meanwhile', async () => {
    const cli = new KilledProject()
    await cli.run(['exec', '--fork', 'fix', '-c', '--', 'echo before > before; echo kept > kept'])
    const child = await cli.hold('rm before; sed -i s/one/ONE/ a', '--fork', 'fix')
    await cli.run(['exec', '--fork', 'fix', '-c', '--', 'sed -i s/five/FIVE/ a; echo other > other'])
    child.kill('SIGKILL')
    await once(child, 'exit')
    expect((await cli.run(['forks'])).stderr).toContain('a command of fix was killed; the fork has its')
    expect(await cli.ok('diff', 'fix', '--stat')).toMatch(
      /^M \/a {2}\+2 -2\nA \/kept {2}\+1 -0\nA \/other {2}\+1 -0\n3 /,
    )
  })

  it('leaves no fork if the command changed nothing', async () => {
    const cli = new KilledProject()
    await cli.kill('true')
    expect(await cli.run(['forks'])).toMatchObject({ code: 0, stderr: '' })
    expect(cli.listSessions()).toEqual([])
    expect(await cli.json('forks')).toEqual([])
  })

  it('is reported with the paths that the fork cannot keep', async () => {
    const cli = new KilledProject()
    await cli.kill('echo new > new; mkfifo pipe')
    expect((await cli.run(['forks'])).stderr).toMatch(
      /^coppice: a command of files-1 was killed; the fork has its changes now\ncoppice: not kept: \/pipe; a fork holds no pipes/,
    )
    await cli.kill('mkfifo other')
    expect((await cli.run(['forks'])).stderr).toMatch(
      /^coppice: a command of files-2 was killed; the fork has none of its changes\ncoppice: not kept: \/other; /,
    )
    expect(cli.listSessions()).toEqual([])
  })

  it('waits for a directory that is missing, and is deleted only by a gc after one that has said so', async () => {
    const cli = new KilledProject()
    const away = join(cli.scratch, 'away')
    const outside = (...args: string[]) => cli.run(args, { cwd: cli.scratch })
    await cli.kill('echo new > new', '--fork', 'fix')
    renameSync(cli.files, away)
    const waiting = `changes of a killed command in fix, whose directory ${cli.files} is missing, left in ${cli.home}/sessions/`
    expect(await outside('gc')).toMatchObject({
      stderr: '',
      stdout: expect.stringContaining(`\nwaiting: ${waiting}`),
    })
    expect((await outside('doctor')).stdout).toContain(waiting)
    renameSync(away, cli.files)
    expect((await outside('gc')).stderr).toBe(
      'coppice: a command of fix was killed; the fork has its changes now\n',
    )
    expect(await cli.ok('diff', 'fix', '--stat')).toMatch(/^A \/new {2}\+1 -0\n1 path/)

    await cli.kill('echo other > other', '--fork', 'fix')
    renameSync(cli.files, away)
    expect((await outside('gc', '--keep-left', '31d')).stdout).toContain(`waiting: ${waiting}`)
    const [left = ''] = cli.listSessions()
    const month = new Date(Date.now() - 30 * 86_400_000)
    utimesSync(join(cli.home, 'sessions', left, 'waiting'), month, month)
    expect((await outside('gc', '--keep-left', '31d')).stdout).toContain(`waiting: ${waiting}`)
    expect((await outside('gc')).stdout).toContain(`\ndeleted: ${waiting}`)
    expect(cli.listSessions()).toEqual([])
    expect((await outside('doctor')).stdout).not.toContain('killed command')
    await using home = await openHome({ path: cli.home })
    expect((await home.vaults()).filter((name) => name.startsWith('session-'))).toEqual([])
  })

  it.each(['', 'null'])('with the damaged record %j is reported, until gc deletes it', async (record) => {
    const cli = new KilledProject()
    await cli.kill('echo new > new', '--fork', 'fix')
    const [left = ''] = cli.listSessions()
    writeFileSync(join(cli.home, 'sessions', left, 'fork.json'), record)
    expect((await cli.run(['exec', '--', 'true'])).stderr).toMatch(
      /cannot be stored: \S+ has no readable record; they stay in/,
    )
    expect((await cli.run(['gc', '--keep-left', '0h'])).stdout).toContain(
      `\ndeleted: changes of a killed command, whose record is damaged, left in ${cli.home}/sessions/${left}`,
    )
    expect(await cli.run(['forks'])).toMatchObject({ stderr: '' })
  })

  it('and other files beside what it left stop no command', async () => {
    const cli = new KilledProject()
    await cli.kill('echo new > new', '--fork', 'fix')
    writeFileSync(join(cli.home, 'sessions/.nfs000000000001'), '')
    mkdirSync(join(cli.home, 'sessions/lost+found'))
    expect(await cli.run(['exec', '--fork', 'fix', '--', 'cat', 'new'])).toMatchObject({
      code: 0,
      stdout: 'new\n',
    })
    expect(cli.listSessions().sort()).toEqual(['.nfs000000000001', 'lost+found'])
  })

  it('stores no placeholder of a secret', async () => {
    const cli = new KilledProject()
    writeFileSync(join(cli.files, '.env'), 'TOKEN=secret-value-1\nMODE=one\n')
    await cli.kill('echo MORE=2 >> .env; cp .env copy', '--mask', '--fork', 'fix')
    await cli.run(['forks'])
    await cli.ok('apply', 'fix', '--', '.env')
    expect(readFileSync(join(cli.files, '.env'), 'utf8')).toBe('TOKEN=secret-value-1\nMODE=one\nMORE=2\n')
    await cli.kill('cat .env > /dev/null; echo x > x', '--mask', '--fork', 'second')
    await cli.run(['forks'])
    expect(await cli.ok('diff', 'second', '--stat')).toMatch(/^A \/x {2}\+1 -0\n1 path/)
    const child = await cli.hold('cat .env > /dev/null; echo y > y', '--mask', '--fork', 'third')
    writeFileSync(join(cli.files, '.env'), 'TOKEN=another-value-2\n')
    child.kill('SIGKILL')
    await once(child, 'exit')
    await cli.run(['forks'])
    expect(await cli.ok('diff', 'third', '--stat')).toMatch(/^A \/y {2}\+1 -0\n1 path/)
  })

  it('merges by its start, which no sweep of another process takes before', async () => {
    const cli = new KilledProject()
    await cli.run(['exec', '--fork', 'fix', '-c', '--', 'echo before > before'])
    const child = await cli.hold('sed -i s/one/ONE/ a', '--fork', 'fix')
    await cli.run(['exec', '--fork', 'fix', '-c', '--', 'sed -i s/five/FIVE/ a'])
    child.kill('SIGKILL')
    await once(child, 'exit')
    const home = await openHome({ path: cli.home })
    await Boundary.open(home)
    await home.close()
    await cli.run(['forks'])
    expect(await cli.ok('diff', 'fix', '--stat')).toMatch(/^M \/a {2}\+2 -2\n/)
    // Stored, it keeps the start no longer.
    await using later = await openHome({ path: cli.home })
    expect((await later.vaults()).filter((name) => name.startsWith('session-'))).toEqual([])
  })

  it('shares the fork that another command created under its name meanwhile', async () => {
    const cli = new KilledProject()
    const child = await cli.hold('echo mine > mine; sed -i s/one/ONE/ a', '--fork', 'fix')
    await cli.run(['exec', '--fork', 'fix', '-c', '--', 'echo other > other; sed -i s/five/FIVE/ a'])
    child.kill('SIGKILL')
    await once(child, 'exit')
    const { stderr } = await cli.run(['forks'])
    expect(stderr).toContain('a command of fix was killed; the fork has its changes')
    expect(await cli.ok('diff', 'fix', '--stat')).toMatch(
      /^M \/a {2}\+2 -2\nA \/mine {2}\+1 -0\nA \/other {2}\+1 -0\n3 /,
    )
  })

  it('is survived by the work of a command that joined it', async () => {
    const cli = new KilledProject()
    const child = await cli.hold('echo mine > mine', '--fork', 'fix')
    const joined = cli.start(['enter', 'fix', '--', 'sh', '-c', 'echo joined > joined; echo done; sleep 600'])
    await once(joined.stdout, 'data')
    const ended = once(joined, 'exit')
    child.kill('SIGKILL')
    await ended
    await cli.run(['forks'])
    expect(await cli.ok('diff', 'fix', '--stat')).toMatch(/^A \/joined.*\nA \/mine.*\n2 path/)
  })

  it('replaces nothing of others without a checkpoint if the start of the command is not known any more', async () => {
    const cli = new KilledProject()
    await cli.run(['exec', '--fork', 'fix', '-c', '--', 'echo before > before'])
    const child = await cli.hold('sed -i s/one/ONE/ a', '--fork', 'fix')
    await cli.run(['exec', '--fork', 'fix', '-c', '--', 'sed -i s/one/other/ a'])
    child.kill('SIGKILL')
    await once(child, 'exit')
    await using home = await openHome({ path: cli.home })
    for (const name of await home.vaults()) if (name.startsWith('session-')) await home.deleteVault(name)
    await home.close()
    expect((await cli.run(['forks'])).stderr).toContain('a command of fix was killed; the fork has its')
    expect(await cli.ok('cat', '/a', '--vault', 'fix')).toContain('ONE')
    const [checkpoint] =
      (await cli.ok('checkpoint', 'list', '--vault', 'fix')).trim().split('\n').at(-1)?.split(' ') ?? []
    expect(await cli.ok('cat', '/a', '--vault', 'fix', '--at', `${checkpoint}`)).toContain('other')
  })

  it.skipIf(whyNoLoopDisk() !== undefined)(
    'is not needed: a full disk keeps the changes for later, too',
    async () => {
      const cli = new KilledProject()
      using disk = new LoopDisk(160)
      const home = ['--home', join(disk.path, 'home')]
      const ballast = join(disk.path, 'ballast')
      writeFileSync(ballast, Buffer.alloc(110 * MEGABYTE, 1))
      const run = await cli.run([
        'exec',
        '--fork',
        'fix',
        '-c',
        ...home,
        '--',
        'head -c 25M /dev/urandom > big',
      ])
      expect(run.stderr).toMatch(/could not be kept: .*; a later coppice command tries again; free space on/)
      rmSync(ballast)
      expect((await cli.run(['forks', ...home])).stderr).toContain('the fork has its changes now')
      expect(await cli.ok('diff', 'fix', '--stat', ...home)).toContain('A /big')
    },
  )

  it.skipIf(whyNoLoopDisk() !== undefined)(
    'is not needed in an existing fork either, which keeps its earlier changes on a full disk',
    async () => {
      const cli = new KilledProject()
      using disk = new LoopDisk(160)
      const home = ['--home', join(disk.path, 'home')]
      const exec = (line: string) => cli.run(['exec', '--fork', 'fix', '-c', ...home, '--', line])
      const ballast = join(disk.path, 'ballast')
      await exec('sed -i s/one/ONE/ a; echo before > before')
      writeFileSync(ballast, Buffer.alloc(110 * MEGABYTE, 1))
      const run = await exec('head -c 25M /dev/urandom > big; sed -i s/five/FIVE/ a; rm before')
      expect(run.stderr).toMatch(/could not be kept: .*; a later coppice command tries again; free space on/)
      expect(await cli.run(['cat', '/before', '--vault', 'fix', ...home])).toMatchObject({
        code: 0,
        stdout: 'before\n',
        stderr: expect.stringContaining(
          'a command of fix was killed, and its changes cannot be stored: ENOSPC',
        ),
      })
      rmSync(ballast)
      expect((await cli.run(['forks', ...home])).stderr).toBe(
        'coppice: a command of fix was killed; the fork has its changes now\n',
      )
      expect(await cli.ok('diff', 'fix', '--stat', ...home)).toMatch(/^M \/a {2}\+2 -2\nA \/big.*\n2 path/)
      await using later = await openHome({ path: join(disk.path, 'home') })
      expect((await later.vaults()).filter((name) => name.startsWith('session-'))).toEqual([])
    },
  )

  it.skipIf(whyNoLoopDisk() !== undefined)(
    'is named by a gc on a full disk, which can delete it',
    async () => {
      const cli = new KilledProject()
      using disk = new LoopDisk(160)
      const home = ['--home', join(disk.path, 'home')]
      const ballast = join(disk.path, 'ballast')
      await cli.ok('vault', 'create', 'other', ...home)
      writeFileSync(ballast, Buffer.alloc(110 * MEGABYTE, 1))
      await cli.run(['exec', '--fork', 'fix', ...home, '--', 'sh', '-c', 'head -c 25M /dev/urandom > big'])
      const left = `changes of a killed command in fix, that cannot be stored, left in ${disk.path}/home/sessions/`
      expect((await cli.run(['gc', ...home])).stdout).toContain(`\nwaiting: ${left}`)
      const now = await cli.run(['gc', '--keep-left', '0h', ...home])
      expect(now.stdout).toContain(`\ndeleted: ${left}`)
      expect(now.stderr).toContain('until coppice gc --keep-left 0h deletes them')
      expect(await cli.run(['forks', ...home])).toMatchObject({ code: 0, stderr: '' })
    },
  )

  it('counts nothing as a change that a later kill leaves of its files', async () => {
    const cli = new KilledProject()
    await cli.kill('echo new > new; rm gone', '--fork', 'fix')
    await cli.killAt('rmSync:/fork.json', ['forks'])
    const [left = ''] = cli.listSessions()
    expect(existsSync(join(cli.home, 'sessions', left, 'upper/new'))).toBe(true)
    // As a kill in the middle of the removal leaves them.
    rmSync(join(cli.home, 'sessions', left, 'upper/gone'))
    await cli.run(['exec', '--fork', 'fix', '-c', '--', 'echo later > new'])
    expect(await cli.run(['forks'])).toMatchObject({ code: 0, stderr: '' })
    expect(cli.listSessions()).toEqual([])
    expect(await cli.ok('diff', 'fix', '--stat')).toMatch(/^D \/gone.*\nA \/new {2}\+1 -0\n2 path/)
    expect(await cli.ok('cat', '/new', '--vault', 'fix')).toBe('later\n')
  })

  it.skipIf(whyNotNobody() !== undefined)(
    'waits in a directory that cannot be read, and stops no command',
    () => {
      const { lines } = runAsOrdinaryUser(new Cli().scratch, UNREADABLE)
      expect(lines).toEqual([
        'closed: 0',
        expect.stringMatching(
          /^one closed: 0 coppice: a command of a fork was killed, and its changes cannot be stored: EACCES.*; they stay in \S+\/sessions, until coppice gc --keep-left 0h deletes them$/,
        ),
        'open: 0 coppice: a command of fix was killed; the fork has its changes now',
        'diff: A /new +1 -0 1 path, +1 -0 lines',
      ])
    },
  )

  it.skipIf(whyNotNobody() !== undefined).each([
    ['overlay', 'upper'],
    ['dir', 'tree'],
  ])('stores the modes that the command gave, whenever it comes, in a session of kind %s', (kind, tree) => {
    const { lines } = runAsOrdinaryUser(new Cli().scratch, createLoosenedModes(kind, tree))
    expect(lines).toEqual([
      'said: coppice: a command of fix was killed; the fork has its changes now',
      'diff: A /closed/file +1 -0 M /old +1 -0 mode 0600 -> 0000 2 paths, +2 -0 lines',
      'modes: 0 closed 0 old',
      'inner: 200 closed/file',
    ])
  })

  it.skipIf(whyNotNobody() !== undefined)('is survived by the work of an ordinary user', () => {
    const { lines } = runAsOrdinaryUser(new Cli().scratch, ORDINARY_USER)
    expect(lines).toEqual([
      'said: coppice: a command of fix was killed; the fork has its changes now',
      'diff: M /a +1 -1 D /gone +0 -1 A /new +1 -0 3 paths, +2 -2 lines',
      'left: 0',
    ])
  })
})

/** A kill while changes are read, of the command and of the one that stores them. */
const createLoosenedModes = (kind: string, tree: string) => `
  mkdir project; cd project; echo old > old; chmod 600 old
  killed() {
    NODE_OPTIONS="--import=$repository/test/support/killed-at-call.ts" KILL_AT="chmodSync:$1" coppice "$2" "$3" "$4" "$5" "$6" "$7" > /dev/null 2>&1 || :
  }
  killed /${tree}/closed/file exec --session=${kind} --fork=fix -c -- 'mkdir closed; echo x > closed/file; chmod 200 closed/file; chmod 000 closed; echo y >> old; chmod 000 old'
  killed /${tree}/old forks
  echo "said: $(coppice forks 2>&1 > /dev/null)"
  echo "diff:" $(coppice diff fix --stat)
  coppice apply fix > /dev/null
  echo "modes:" $(stat -c '%a %n' closed old); chmod 700 closed; echo "inner:" $(stat -c '%a %n' closed/file)
`
const UNREADABLE = `
  mkdir project; cd project; echo one > a
  "$node" "$repository/bin/coppice.js" exec --fork fix -c -- "echo new > new; echo done; sleep 600" > ../out 2> /dev/null &
  until grep -q done ../out; do sleep 0.1; done
  kill -KILL $!; wait
  forks() { said=$(coppice forks 2>&1 > /dev/null); echo "$1:" $? $said; }
  chmod 000 ../home/sessions; forks closed; chmod 700 ../home/sessions
  chmod 000 ../home/sessions/*; forks 'one closed'; chmod 700 ../home/sessions/*
  forks open
  echo "diff:" $(coppice diff fix --stat)
`
const ORDINARY_USER = `
  mkdir project; cd project; echo one > a; echo x > gone
  "$node" "$repository/bin/coppice.js" exec --fork fix -c -- "sed -i s/one/two/ a; rm gone; echo new > new; echo done; sleep 600" > ../out 2> /dev/null &
  until grep -q done ../out; do sleep 0.1; done
  kill -KILL $!; wait
  echo "said: $(coppice forks 2>&1 > /dev/null)"
  echo "diff:" $(coppice diff fix --stat)
  echo "left: $(find ../home/sessions -mindepth 1 | wc -l)"
`
