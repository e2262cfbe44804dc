import { spawnSync } from 'node:child_process'
import {
  chmodSync,
  chownSync,
  linkSync,
  lstatSync,
  mkdirSync,
  mkdtempSync,
  readdirSync,
  readFileSync,
  rmSync,
  writeFileSync,
} from 'node:fs'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { describe, expect, it } from 'vitest'
import { hasProgram } from '../support/debian-programs.ts'
import { type Run, root } from '../support/run-node.ts'
import { run, whyNoOverlay, whyNotNobody } from '../support/tools.ts'
import { Cli } from './run-cli.ts'

const NOBODY = 65_534
/** A group id that no user has. */
const SHARED = 4242
const isRoot = process.getuid?.() === 0

/** Sets a user attribute, and an access list that lets user 1000 read and write. Node supports neither. */
const SET = `
import os, struct, sys
os.setxattr(sys.argv[1], 'user.mark', b'kept')
entries = [(1, 4, -1), (2, 6, 1000), (4, 4, -1), (16, 6, -1), (32, 4, -1)]
bytes = struct.pack('<I', 2) + b''.join(struct.pack('<HHi', *entry) for entry in entries)
os.setxattr(sys.argv[1], 'system.posix_acl_access', bytes)`
const GET = `
import os, sys
print(oct(os.stat(sys.argv[1]).st_mode), {name: os.getxattr(sys.argv[1], name) for name in os.listxattr(sys.argv[1])})`

function attributes(path: string, script: string): string {
  return run('python3', '-c', script, path)
}

/** Not every disk supports them. */
const hasAttributes = (() => {
  if (process.platform !== 'linux' || !hasProgram('python3')) return false
  const place = mkdtempSync(join(tmpdir(), 'coppice-attributes-'))
  try {
    attributes(place, SET.replaceAll('(16, 6, -1)', '(16, 7, -1)'))
    return true
  } catch {
    return false
  } finally {
    rmSync(place, { recursive: true })
  }
})()

/** Runs the program as nobody, with one more group. */
function asNobody(cli: Cli, ...args: string[]): Run {
  const become = [`--reuid=${NOBODY}`, `--regid=${NOBODY}`, `--groups=${NOBODY},${SHARED}`]
  const env = { ...process.env, NODE_OPTIONS: '', COPPICE_HOME: cli.home, HOME: cli.scratch }
  const words = ['setpriv', ...become, process.execPath, join(root, 'bin/coppice.js'), ...args]
  const { status, stdout, stderr } = spawnSync('env', words, { cwd: cli.files, env, encoding: 'utf8' })
  return { code: status, stdout, stderr }
}

function ownerOf(cli: Cli, path: string): string {
  const { uid, gid, mode } = lstatSync(join(cli.files, path))
  return `${uid}:${gid} ${(mode & 0o7777).toString(8)}`
}

describe('the files that apply writes', () => {
  it('keep hard links as one file, and holes without space', async () => {
    const cli = new Cli()
    mkdirSync(join(cli.files, 'd'))
    for (const name of ['a', 'd/b']) writeFileSync(join(cli.files, name), `${name}\n`)
    const script = 'echo more >> a; ln a d/c; ln -f a d/b; truncate -s 50M holes; printf end >> holes'
    await cli.run(['exec', '--fork', 'task', '-c', '--', script])
    // The next command in the fork sees them the same way.
    const again = await cli.run([
      'exec',
      '--fork',
      'task',
      '-c',
      '--',
      'stat -c %h a d/b d/c; echo new > new; rm new',
    ])
    expect(again.stdout).toBe('3\n3\n3\n')
    await cli.ok('apply')
    const files = ['a', 'd/b', 'd/c'].map((name) => lstatSync(join(cli.files, name)))
    expect(new Set(files.map(({ ino }) => ino)).size).toBe(1)
    expect(readFileSync(join(cli.files, 'd/b'), 'utf8')).toBe('a\nmore\n')
    const { size, blocks } = lstatSync(join(cli.files, 'holes'))
    expect(size).toBe(50 * 2 ** 20 + 3)
    expect(blocks * 512).toBeLessThan(2 ** 20)
    await cli.ok('apply', '--undo')
    expect(readFileSync(join(cli.files, 'd/b'), 'utf8')).toBe('d/b\n')
    expect(readdirSync(cli.files, { recursive: true }).sort()).toEqual(['a', 'd', 'd/b'])
  })

  it('stay in place if only permissions change', async () => {
    const cli = new Cli()
    writeFileSync(join(cli.files, 'a'), 'a\n')
    linkSync(join(cli.files, 'a'), join(cli.scratch, 'elsewhere'))
    const { ino } = lstatSync(join(cli.files, 'a'))
    await cli.run(['exec', '--', 'chmod', '600', 'a'])
    await cli.ok('apply')
    expect(lstatSync(join(cli.files, 'a'))).toMatchObject({ ino, nlink: 2, mode: 0o100600 })
    await cli.ok('apply', '--undo')
    expect(lstatSync(join(cli.files, 'a'))).toMatchObject({ ino, nlink: 2, mode: 0o100644 })
  })

  it.skipIf(!hasAttributes)('keep the attributes and access lists of the replaced files', async () => {
    const cli = new Cli()
    const path = join(cli.files, 'a')
    writeFileSync(path, 'a\n')
    chmodSync(path, 0o444)
    attributes(path, SET)
    const before = attributes(path, GET)
    const script = 'chmod u+w a; echo more >> a; chmod u-w a; echo new > new'
    await cli.run(['exec', '--fork', 'task', '-c', '--', script])
    for (const undo of [[], ['--undo']]) {
      await cli.ok('apply', ...undo)
      expect(attributes(path, GET)).toBe(before)
    }
    expect(readFileSync(path, 'utf8')).toBe('a\n')
  })
})

describe.skipIf(!isRoot)('the owners of what apply writes', () => {
  it.skipIf(whyNoOverlay() !== undefined)(
    'are those that the command set, also of directories and after an undo',
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

  it.skipIf(whyNotNobody() !== undefined)('keep a group that the user belongs to', () => {
    const cli = new Cli()
    mkdirSync(join(cli.files, 'team'))
    writeFileSync(join(cli.files, 'team/a'), 'one\n')
    for (const path of [cli.scratch, cli.files]) chownSync(path, NOBODY, NOBODY)
    for (const path of ['team', 'team/a']) chownSync(join(cli.files, path), NOBODY, SHARED)
    chmodSync(join(cli.files, 'team'), 0o2775)
    const script = 'echo two >> team/a; mkdir team/d; echo b > team/d/b; echo c > c'
    const exec = ['exec', '--session', 'dir', '--fork', 'task', '-c', '--']
    expect(asNobody(cli, ...exec, script)).toMatchObject({ code: 0 })
    // The copy for the next command has them as well.
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

describe.skipIf(whyNotNobody() !== undefined)('what a command closed to its own user', () => {
  /** Creates files of nobody, and returns how nobody runs a command in a fork of them. */
  const prepare = (): { cli: Cli; exec: (script: string) => void } => {
    const cli = new Cli()
    mkdirSync(join(cli.files, 'd'))
    for (const path of ['a', 'd/b']) writeFileSync(join(cli.files, path), `${path}\n`)
    for (const path of ['', 'files', 'files/a', 'files/d', 'files/d/b'])
      chownSync(join(cli.scratch, path), NOBODY, NOBODY)
    const words = ['exec', '--session', 'dir', '--fork', 'task', '-c', '--']
    return { cli, exec: (script) => expect(asNobody(cli, ...words, script)).toMatchObject({ code: 0 }) }
  }

  it.each(['chmod 000 a', 'echo more >> a; chmod 000 a', 'echo new > new; chmod 000 new'])(
    'is applied and undone: %s',
    (script) => {
      const { cli, exec } = prepare()
      exec(script)
      const before = lstatSync(join(cli.files, 'a')).mode
      expect(asNobody(cli, 'apply')).toMatchObject({ code: 0, stderr: '' })
      const again = asNobody(cli, 'apply')
      expect(again).toMatchObject({ code: 0, stdout: expect.stringContaining('already has all changes') })
      expect(asNobody(cli, 'apply', '--undo')).toMatchObject({ code: 0, stderr: '' })
      expect(lstatSync(join(cli.files, 'a')).mode).toBe(before)
      expect(readFileSync(join(cli.files, 'a'), 'utf8')).toBe('a\n')
      expect(readdirSync(cli.files).sort()).toEqual(['a', 'd'])
    },
  )

  it('is undone in a home that has masked files', () => {
    const { cli, exec } = prepare()
    writeFileSync(join(cli.files, '.env'), 'KEY=secret\n')
    chownSync(join(cli.files, '.env'), NOBODY, NOBODY)
    const masked = asNobody(cli, 'exec', '--session', 'dir', '--mask', '--', 'cat', '.env')
    expect(masked.stdout).toContain('KEY=coppice-secret-')
    exec('chmod 000 a')
    expect(asNobody(cli, 'apply')).toMatchObject({ code: 0, stderr: '' })
    expect(asNobody(cli, 'apply', '--undo')).toMatchObject({ code: 0, stderr: '' })
    expect(readFileSync(join(cli.files, 'a'), 'utf8')).toBe('a\n')
  })

  it('is not undone over a later change of the user', () => {
    const { cli, exec } = prepare()
    exec('chmod 000 a')
    expect(asNobody(cli, 'apply')).toMatchObject({ code: 0, stderr: '' })
    writeFileSync(join(cli.files, 'a'), 'b\n')
    expect(asNobody(cli, 'apply', '--undo')).toMatchObject({
      code: 3,
      stderr: expect.stringContaining('/a changed meanwhile'),
    })
    expect(readFileSync(join(cli.files, 'a'), 'utf8')).toBe('b\n')
  })

  it('includes the entries of a directory that is closed before or after', () => {
    const { cli, exec } = prepare()
    chmodSync(join(cli.files, 'd'), 0o555)
    exec('chmod 755 d; rm d/b; echo c > d/c')
    expect(asNobody(cli, 'apply')).toMatchObject({ code: 0, stderr: '' })
    expect(readdirSync(join(cli.files, 'd'))).toEqual(['c'])
    expect(asNobody(cli, 'apply', '--undo')).toMatchObject({ code: 0, stderr: '' })
    expect(readdirSync(join(cli.files, 'd'))).toEqual(['b'])
    expect(lstatSync(join(cli.files, 'd')).mode & 0o7777).toBe(0o555)
  })

  it.each([
    { script: 'echo more >> d/b; chmod 000 d', chmod: '0755', path: 'd', names: ['a', 'd', 'd/b'] },
    { script: 'mkdir e; echo c > e/c; chmod 000 e', chmod: 'u+rwx', path: 'e', names: ['a', 'd', 'd/b'] },
  ])('is undone after the user opened the directory: $script', ({ script, chmod, path, names }) => {
    const { cli, exec } = prepare()
    exec(script)
    expect(asNobody(cli, 'apply')).toMatchObject({ code: 0, stderr: '' })
    expect(lstatSync(join(cli.files, path)).mode & 0o7777).toBe(0)
    const again = asNobody(cli, 'apply')
    expect(again).toMatchObject({ code: 0, stdout: expect.stringContaining('already has all changes') })
    const command = `chmod ${chmod} '${join(cli.files, path)}'`
    const denied = asNobody(cli, 'apply', '--undo')
    expect(denied).toMatchObject({ code: 1, stderr: expect.stringContaining(`run ${command} and try again`) })
    run('sh', '-c', command)
    expect(asNobody(cli, 'apply', '--undo')).toMatchObject({ code: 0, stderr: '' })
    expect(readdirSync(cli.files, { recursive: true }).sort()).toEqual(names)
    expect(readFileSync(join(cli.files, 'd/b'), 'utf8')).toBe('d/b\n')
  })

  /** Returns the mode of every entry, with the text of files. */
  const readAll = (cli: Cli): Record<string, string> => {
    const paths = readdirSync(cli.files, { recursive: true, encoding: 'utf8' }).sort()
    const states = paths.map((path) => {
      const stats = lstatSync(join(cli.files, path))
      const text = stats.isFile() ? ` ${readFileSync(join(cli.files, path), 'utf8')}` : ''
      return [path, (stats.mode & 0o7777).toString(8) + text] as const
    })
    return Object.fromEntries(states)
  }

  it.each([
    { script: 'mkdir e; echo e > e/f; chmod 555 e', changed: { e: '555', 'e/f': '644 e\n' } },
    {
      script: 'chmod 755 d; echo more >> d/b; echo c > d/c; chmod 555 d',
      changed: { d: '2555', 'd/b': '644 d/b\nmore\n', 'd/c': '644 c\n' },
    },
    { script: 'chmod 755 d; ln d/b d/c; chmod 500 d', changed: { d: '2500', 'd/c': '644 d/b\n' } },
    { script: 'chmod 755 . d; echo c > c; rm -r d; chmod 555 .', changed: { c: '644 c\n' } },
  ])('is in directories that stay without write permission: $script', ({ script, changed }) => {
    const { cli, exec } = prepare()
    chmodSync(join(cli.files, 'd'), 0o2555)
    chmodSync(cli.files, 0o555)
    const before = readAll(cli)
    exec(`chmod 755 .; ${script}; chmod 555 .`)
    expect(asNobody(cli, 'apply')).toMatchObject({ code: 0, stderr: '' })
    const kept = script.includes('rm -r d') ? { a: before['a'] } : before
    expect(readAll(cli)).toEqual({ ...kept, ...changed })
    expect(asNobody(cli, 'apply', '--undo')).toMatchObject({ code: 0, stderr: '' })
    expect(readAll(cli)).toEqual(before)
    expect(lstatSync(cli.files).mode & 0o7777).toBe(0o555)
  })

  it.each([
    { owner: 0, group: 0, mode: 0o755, advice: `belongs to root; take it over with sudo chown ${NOBODY}` },
    { owner: NOBODY, group: 4243, mode: 0o2555, advice: 'run chmod u+w' },
  ])('stays as it is in a directory whose mode apply may not change: $advice', ({ advice, ...each }) => {
    const { cli, exec } = prepare()
    const directory = join(cli.files, 'd')
    chownSync(directory, each.owner, each.group)
    chmodSync(directory, each.mode)
    const before = readAll(cli)
    exec('echo more >> a; mode=$(stat -c %a d); chmod u+w d; echo c > d/c; chmod $mode d')
    const denied = asNobody(cli, 'apply')
    expect(denied).toMatchObject({ code: 1, stderr: expect.stringContaining(`${advice} '${directory}'`) })
    expect(denied.stderr).toContain(`you may not change ${directory}/c`)
    expect(readAll(cli)).toEqual(before)
  })
})
