import { spawnSync } from 'node:child_process'
import {
  chmodSync,
  chownSync,
  closeSync,
  mkdirSync,
  mkdtempSync,
  openSync,
  readFileSync,
  rmSync,
  writeFileSync,
} from 'node:fs'
import { join } from 'node:path'
import { describe, expect, it, onTestFinished } from 'vitest'
import { type Run, root } from '../support/run-node.ts'
import { whyNoOverlay, whyNotNobody } from '../support/tools.ts'
import { Cli } from './run-cli.ts'

const NOBODY = 65_534
const withoutOverlay = whyNoOverlay()
const isRoot = process.getuid?.() === 0
const program = [process.execPath, join(root, 'bin/coppice.js')]

/** Creates a project in the working directory of the program. */
function project(): Cli {
  const cli = new Cli()
  writeFileSync(join(cli.files, 'a.txt'), 'one\n')
  return cli
}

/** Runs shell lines in a private mount namespace; `coppice` is the program. */
function inMounts(cli: Cli, lines: readonly string[], before: readonly string[] = []): Run {
  const script = [`coppice() { ${[...before, ...program].join(' ')} "$@"; }`, ...lines].join('\n')
  const env = { ...process.env, NODE_OPTIONS: '', COPPICE_HOME: cli.home, HOME: cli.scratch }
  const options = { cwd: cli.files, env, encoding: 'utf8' } as const
  const apart = 'exec unshare --mount sh -c "$0"'
  const { status, stdout, stderr } = spawnSync('sh', ['-c', apart, script], options)
  return { code: status, stdout, stderr }
}

describe('a name for a fork', () => {
  it.each(['../x', 'boundary', 'link-0123456789ab-01234567', 'zones'])(
    'is refused before the command runs if it is reserved or invalid: %s',
    async (name) => {
      const run = await project().run(['exec', '--fork', name, '-c', '--', 'echo ran; echo x > x'])
      expect(run).toMatchObject({ code: 1, stdout: '' })
      expect(run.stderr).toContain(name)
    },
  )
})

it('escapes control characters of a command on the terminal', async () => {
  const run = await project().run(['exec', '--', 'curl', 'x\r\u001b[2Kls\u202e'])
  expect(run.stderr).toContain('`curl x\\r\\033[2Kls\\342\\200\\256` reaches the network')
})

describe('--memory', () => {
  it('stops a command above the limit, and explains how to raise it', async () => {
    const take = ['python3', '-c', 'x = bytes([1]) * 200_000_000; input()']
    const { code, stderr } = await project().run([
      'exec',
      '--memory',
      '64M',
      '--isolation',
      'none',
      '--',
      ...take,
    ])
    expect(code).not.toBe(0)
    expect(stderr).toMatch(/MemoryError|--memory/)
  })

  it('allows runtimes that reserve much, and can be lifted', async () => {
    const cli = project()
    for (const size of ['1G', 'none'])
      expect(await cli.run(['exec', '--memory', size, '--', 'node', '-p', '6 * 7'])).toMatchObject({
        code: 0,
        stdout: '42\n',
      })
  })

  it('refuses an invalid size', async () => {
    const run = await project().run(['exec', '--memory', 'plenty', '--', 'true'])
    expect(run).toMatchObject({ code: 2, stderr: expect.stringContaining("not 'plenty'") })
  })
})

describe('output without a reader', () => {
  const SCRIPT = 'echo first; seq 1 1000000; echo x > kept'

  it('closes the pipe of the command, whose changes are kept', async () => {
    const cli = project()
    const child = cli.start(['exec', '--fork', 'task', '-c', '--', SCRIPT])
    const ended = new Promise((resolve) => child.once('close', resolve))
    child.stdout.once('data', () => child.stdout.destroy())
    expect(await ended).toBe(0)
    expect(await cli.ok('cat', '--vault', 'task', '/kept')).toBe('x\n')
  })

  it('is reported if the disk is full', async () => {
    const cli = project()
    const full = openSync('/dev/full', 'w')
    const args = [...program.slice(1), 'exec', '--fork', 'task', '-c', '--', SCRIPT]
    const env = { ...process.env, NODE_OPTIONS: '', COPPICE_HOME: cli.home }
    const stdio = ['ignore', full, 'pipe'] as const
    const { status, stderr } = spawnSync(process.execPath, args, { cwd: cli.files, env, stdio: [...stdio] })
    closeSync(full)
    expect(status).toBe(0)
    expect(String(stderr)).toMatch(/^coppice: cannot forward the output of the command: ENOSPC[^\n]*\n/)
    expect(await cli.ok('cat', '--vault', 'task', '/kept')).toBe('x\n')
  })

  it('keeps characters whole if several commands write it', async () => {
    const command = "printf '\\342\\202'; sleep 0.2; printf '\\254\\n'"
    const run = await project().run(['exec', '--times', '1', '-c', '--', command])
    expect(run.stdout).toBe('[1] €\n')
  })
})

describe.skipIf(withoutOverlay !== undefined)('a rename of a directory in one step', () => {
  it('fails with the reason, and works in a copy', async () => {
    const cli = project()
    const rename = ['-c', '--', "python3 -c \"import os; os.rename('d', 'e')\""]
    mkdirSync(join(cli.files, 'd'))
    const failed = await cli.run(['exec', ...rename])
    expect(failed.code).toBe(1)
    expect(failed.stderr).toContain('a fork cannot rename a directory of the project in one step')
    const moved = await cli.run(['exec', '-c', '--', 'mv d e'])
    expect([moved.code, moved.stderr]).toEqual([0, expect.not.stringContaining('EXDEV')])
    expect((await cli.run(['exec', '--session', 'dir', ...rename])).code).toBe(0)
  })
})

it('names the unit of a time limit', async () => {
  expect(await project().run(['exec', '--timeout', '1m', '--', 'true'])).toMatchObject({
    code: 2,
    stderr: "coppice: --timeout takes a whole number of seconds, not '1m'\n",
  })
})

describe('a command with an option of its own', () => {
  it('needs -- before it, also for an option that exec has too', async () => {
    const { code, stderr } = await project().run(['exec', 'sh', '-c', 'echo one'])
    expect(code).toBe(2)
    expect(stderr).toContain('and -- before a command with a -c of its own\n')
  })
})

describe.skipIf(withoutOverlay !== undefined)('a program below /tmp', () => {
  it('is missing in a fork, by name, by path and in a script, with the reason', async () => {
    const cli = project()
    const tool = join(cli.scratch, 'tool')
    writeFileSync(tool, '#!/bin/sh\necho it runs\n', { mode: 0o755 })
    const env = { PATH: `${cli.scratch}:${process.env['PATH']}` }
    for (const command of [['tool'], [tool], ['sh', '-c', 'tool'], ['bash', '-c', 'tool']]) {
      const { code, stderr } = await cli.run(['exec', '--', ...command], { env })
      expect(code).toBe(127)
      expect(stderr).toContain(`${tool} is missing in the fork: a command has a /tmp of its own; install`)
    }
    const outside = await cli.run(['exec', '--isolation', 'none', '--', 'tool'], { env })
    expect(outside).toMatchObject({ code: 0, stdout: 'it runs\n' })
    const nowhere = await cli.run(['exec', '--', 'no-such-tool'], { env })
    expect(nowhere).toMatchObject({ code: 127, stderr: expect.not.stringContaining('is missing in') })
  })
})

describe('a program that reads JSON', () => {
  it('gets the reason of a refused apply, and the id for an approval', async () => {
    const cli = project()
    await cli.run(['exec', '-c', '--', 'echo two >> a.txt'])
    writeFileSync(join(cli.files, 'a.txt'), 'mine\n')
    const { code, stderr } = await cli.run(['apply', '--json'])
    expect(code).toBe(3)
    expect(JSON.parse(stderr).error.conflicts).toEqual([{ path: '/a.txt', reason: 'changed meanwhile' }])
    const refused = await cli.run(['exec', '--json', '--', 'curl', 'x'])
    const { approval } = JSON.parse(refused.stderr).error
    expect(await cli.ok('approve')).toContain(`${approval}  waits`)
  })
})

describe('a home that a command of exec cannot open', () => {
  const HIDDEN = 'is hidden from commands of coppice exec; run coppice outside of the fork'
  const run = (cli: Cli, env: NodeJS.ProcessEnv, ...args: string[]) =>
    cli.run(args, { env: { COPPICE_WORKSPACE: cli.files, ...env } })

  it('is reported exactly, if it was named and exists', async () => {
    const cli = project()
    writeFileSync(join(cli.files, 'store.db'), 'no database')
    const named = await run(cli, {}, 'vault', 'list', '--home', cli.files)
    const store = join(cli.files, 'store.db')
    const words = `coppice: the store ${store} cannot be opened: file is not a database; keep a copy`
    expect(named).toMatchObject({ code: 1, stderr: expect.stringContaining(words) })
  })

  it('is reported as hidden, with the error, if it was not named or cannot be reached', async () => {
    const cli = project()
    writeFileSync(join(cli.files, 'store.db'), 'no database')
    const usual = await run(cli, { COPPICE_HOME: cli.files }, 'vault', 'list')
    expect(usual.stderr).toContain(HIDDEN)
    expect(usual.stderr).toMatch(/cannot be opened: file is not a database\)\n$/)
    const covered = join(cli.scratch, 'covered')
    mkdirSync(covered)
    const empty = await run(cli, { COPPICE_HOME: covered }, 'diff')
    expect(empty.stderr).toContain(HIDDEN)
    const unreached = await run(cli, {}, 'vault', 'create', 'a', '--home', '/proc/none/home')
    expect(unreached.stderr).toContain(HIDDEN)
  })
})

describe.skipIf(withoutOverlay !== undefined)('the home of Coppice', () => {
  it('is hidden from commands, wherever it is', async () => {
    const cli = project()
    // Outside of /tmp, which is private to a command anyway.
    const home = mkdtempSync(join(root, 'node_modules/.coppice-home-'))
    onTestFinished(() => rmSync(home, { recursive: true, force: true }))
    const env = { COPPICE_HOME: home }
    const look = `ls -A ${home}; cat ${home}/store.db; echo looked\n`
    writeFileSync(join(cli.files, 'look.sh'), look)
    const exec = ['exec', '--isolation', 'strict']
    const linked = await cli.run([...exec, '--', 'sh', 'look.sh'], { env })
    expect(linked).toMatchObject({ code: 0, stdout: 'looked\n' })
    await cli.run(['vault', 'create', 'base'], { env })
    await cli.run(['write', '--vault', 'base', '/look.sh'], { env, input: look })
    const own = await cli.run([...exec, '--vault', 'base', '--', 'sh', 'look.sh'], { env })
    expect(own).toMatchObject({ code: 0, stdout: 'checkouts\nlooked\n' })
    // A checkout in /tmp is hidden itself.
    if (root.startsWith('/tmp/')) return
    writeFileSync(join(cli.files, 'again.sh'), `${program.join(' ')} "$@" -- cat look.sh\n`)
    const again = [...exec, '--', 'sh', 'again.sh', 'exec']
    expect((await cli.run(again, { env })).stderr).toContain('is hidden from commands of coppice exec')
    expect((await cli.run([...again, '--home', '/tmp/own'], { env })).stdout).toBe(look)
  })
})

describe.skipIf(withoutOverlay !== undefined)('secrets in the directory that commands run in', () => {
  it.each(['overlay', 'dir'])('are hidden in a session of kind %s', async (session) => {
    const cli = project()
    mkdirSync(join(cli.files, '.ssh'))
    writeFileSync(join(cli.files, '.ssh/id'), 'key\n')
    writeFileSync(join(cli.files, '.netrc'), 'password\n')
    const env = { HOME: cli.files, COPPICE_HOME: join(cli.files, '.coppice') }
    writeFileSync(join(cli.files, 'look.sh'), 'cat .netrc; ls -A .ssh .coppice; rm -rf a.txt .ssh .netrc\n')
    const exec = ['exec', '--session', session, '--isolation', 'strict', '--', 'sh', 'look.sh']
    const { stdout, stderr } = await cli.run(exec, { env })
    expect(stdout).toBe('.coppice:\n\n.ssh:\n')
    expect(stderr).toContain('\n  D /a.txt  -1\n\n')
  })
})

describe.skipIf(withoutOverlay !== undefined || !isRoot)('what is mounted in a directory', () => {
  it('is visible to commands, and read-only', () => {
    const cli = project()
    const SCRIPT = 'cat disk/b disk/in/c; echo 2 >> a.txt; echo x > disk/b; rm -rf disk'
    const run = inMounts(cli, [
      'set -e; mkdir disk; mount -t tmpfs t disk; echo b > disk/b',
      'mkdir disk/in; mount -t tmpfs t disk/in; echo c > disk/in/c; set +e',
      ...['none', 'auto'].map((level) => `coppice exec --isolation ${level} -c -- '${SCRIPT}'`),
      'coppice apply; cat disk/b disk/in/c',
    ])
    expect(run.stdout).toMatch(/^b\nc\nb\nc\nM \/a.txt\nwrote 1 change of files-2 .*\nb\nc\n$/)
    expect(run.stderr).toContain('Read-only file system')
  })

  it.skipIf(whyNotNobody() !== undefined)(
    'does not prevent a user from running commands in their home',
    () => {
      const cli = project()
      chownSync(cli.scratch, NOBODY, NOBODY)
      chownSync(cli.files, NOBODY, NOBODY)
      writeFileSync(join(cli.files, 'try.sh'), 'echo x > ~/disk/x || echo x > ~/x || echo kept\n')
      const become = ['setpriv', `--reuid=${NOBODY}`, `--regid=${NOBODY}`, '--clear-groups']
      const run = inMounts(
        cli,
        [
          'mkdir ../disk; mount -t tmpfs -o nosuid,nodev,mode=777 t ../disk',
          'coppice exec --isolation strict -- sh ./try.sh; ls ../disk',
        ],
        become,
      )
      expect(run).toMatchObject({ code: 0, stdout: 'kept\n' })
    },
  )
})

describe('an apply that fails', () => {
  it.skipIf(!isRoot)('reports the reason, changes nothing, and keeps the earlier one undoable', () => {
    const cli = project()
    const run = inMounts(cli, [
      'mkdir small; mount -t tmpfs -o size=64k t small; cd small; echo 1 > a',
      'coppice exec --session dir --fork task -c -- "echo 2 > a" 2>/dev/null; coppice apply',
      'coppice exec --session dir --fork task -c -- "echo 3 > a; head -c 100000 /dev/urandom > b" 2>/dev/null',
      'coppice apply; mount -o remount,ro .; coppice apply; mount -o remount,rw .; ls -A; cat a',
      'coppice exec --session dir --fork task -c -- "rm b; echo 2 > a" 2>/dev/null; coppice apply --undo; cat a',
    ])
    expect(run.stderr.replaceAll(cli.files, '')).toBe(
      'coppice: nothing was written to /small: there is no room left on its disk\n' +
        'coppice: nothing was written to /small: its disk is read-only\n',
    )
    expect(run.stdout).toMatch(/\na\n2\nM \/a\nundid 1 change of task; the fork still has it\n1\n$/)
  })

  it.skipIf(whyNotNobody() !== undefined)(
    'keeps the other changes of a command that touched unreadable files',
    () => {
      const cli = project()
      mkdirSync(join(cli.files, 'd'))
      for (const name of ['b', 'd/c']) writeFileSync(join(cli.files, name), 'secret\n', { mode: 0o600 })
      for (const path of [cli.scratch, cli.files, join(cli.files, 'd')]) chownSync(path, NOBODY, NOBODY)
      const become = ['setpriv', `--reuid=${NOBODY}`, `--regid=${NOBODY}`, '--clear-groups']
      const run = inMounts(cli, ["coppice exec -c -- 'rm -rf b d; echo x > x'; coppice apply; cat x"], become)
      expect(run.stderr).toContain('coppice: not kept: /b, /d')
      expect(run.stdout).toMatch(/^A \/x\nwrote 1 change .*\nx\n$/)
      expect(readFileSync(join(cli.files, 'd/c'), 'utf8')).toBe('secret\n')
    },
  )

  it.skipIf(whyNotNobody() !== undefined)('has no session if a file cannot be read', () => {
    const cli = project()
    for (const name of ['b', 'c']) writeFileSync(join(cli.files, name), 'secret\n')
    for (const name of ['b', 'c']) chmodSync(join(cli.files, name), 0o600)
    for (const path of [cli.scratch, cli.files]) chownSync(path, NOBODY, NOBODY)
    const become = ['setpriv', `--reuid=${NOBODY}`, `--regid=${NOBODY}`, '--clear-groups']
    const run = inMounts(cli, ['coppice exec --session dir -- true'], become)
    expect(run.code).toBe(1)
    expect(run.stderr).toMatch(
      /^coppice: cannot copy \S+ for the command: [^\n]*Permission denied, and 1 more; make it readable for you with chmod\n$/,
    )
    expect(readFileSync(join(cli.files, 'b'), 'utf8')).toBe('secret\n')
  })
})

it.skipIf(process.platform !== 'linux')(
  'a home in the directory is excluded from a copy, whatever the names beside it',
  async () => {
    const cli = project()
    const odd = Buffer.concat([Buffer.from(`${cli.files}/`), Buffer.of(0xfd)])
    writeFileSync(odd, 'odd\n')
    mkdirSync(join(cli.files, '[h]'))
    mkdirSync(join(cli.files, 'h'))
    writeFileSync(join(cli.files, '[h]/beside'), 'b\n')
    const env = { COPPICE_HOME: join(cli.files, '[h]/home') }
    const script = `cat "$(printf '\\375')"; ls -d h '[h]/beside' '[h]/home/store.db'; ls '[h]/home/sessions'; echo x > x`
    const exec = ['exec', '--session', 'dir', '--isolation', 'none', '-c', '--', script]
    const run = await cli.run(exec, { env })
    expect(run.stdout).toBe('odd\n[h]/beside\n[h]/home/store.db\nh\n')
    expect(run.stderr).toContain('\n  A /x  +1\n\n')
  },
)

it('keeps the changes of a command whose directory was deleted meanwhile', async () => {
  const cli = project()
  const child = cli.start(['exec', '--session', 'dir', '-c', '--', 'echo x > x; echo ready; cat'])
  const chunks: Buffer[] = []
  child.stderr.on('data', (chunk: Buffer) => chunks.push(chunk))
  await new Promise((resolve) => child.stdout.once('data', resolve))
  const ended = new Promise((resolve) => child.once('close', resolve))
  rmSync(cli.files, { recursive: true })
  child.stdin.end()
  expect(await ended).toBe(0)
  const [, fork = ''] =
    Buffer.concat(chunks)
      .toString()
      .match(/ was deleted meanwhile; .*\n\n {2}A \/x {2}\+1\n\nin (\S+): /) ?? []
  mkdirSync(cli.files)
  expect(await cli.ok('cat', '--vault', fork, '/x')).toBe('x\n')
})

it('reports a deleted working directory in one line', async () => {
  const cli = project()
  const gone = join(cli.scratch, 'gone')
  mkdirSync(gone)
  const script = `cd ${gone} && rmdir ${gone} && ${program.join(' ')} exec -- true`
  const env = { ...process.env, NODE_OPTIONS: '', COPPICE_HOME: cli.home }
  const { status, stderr } = spawnSync('sh', ['-c', script], { env, encoding: 'utf8' })
  expect({ status, stderr }).toEqual({
    status: 1,
    stderr: 'coppice: the working directory was deleted; change to an existing one\n',
  })
})

it.skipIf(!isRoot)('reports a working directory that its user may not read in one line', () => {
  const cli = new Cli(NOBODY)
  const closed = join(cli.scratch, 'closed')
  const inside = join(closed, 'inside')
  mkdirSync(inside, { recursive: true })
  chmodSync(closed, 0o700)
  for (const words of ['exec -- true', 'forks', 'mcp', 'tool list']) {
    const become = 'cd "$0" && exec setpriv --reuid=65534 --regid=65534 --clear-groups "$@"'
    const args = ['-c', become, inside, ...program, ...words.split(' ')]
    const env = { ...process.env, NODE_OPTIONS: '', COPPICE_HOME: cli.home, HOME: cli.scratch }
    const { status, stderr } = spawnSync('sh', args, { env, encoding: 'utf8' })
    expect({ status, stderr }, words).toEqual({
      status: 1,
      stderr:
        'coppice: you may not read the working directory, or one around it; change to another, or ask its owner\n',
    })
  }
})
