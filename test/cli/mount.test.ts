import { type ChildProcessWithoutNullStreams, spawn } from 'node:child_process'
import { once } from 'node:events'
import { mkdirSync, readdirSync, readFileSync, writeFileSync } from 'node:fs'
import { join } from 'node:path'
import { describe, expect, it, onTestFinished } from 'vitest'
import { listFuseMounts } from '../../src/fuse/index.ts'
import { whyNoMount } from '../fuse/mounted-vault.ts'
import { runAsOrdinaryUser, whyNoOrdinaryMounts } from '../support/ordinary-user.ts'
import { root } from '../support/run-node.ts'
import { run } from '../support/tools.ts'
import { Cli } from './run-cli.ts'

const reason = whyNoMount()

/** A home with a vault, and a directory to mount on. */
class Mounting extends Cli {
  readonly place: string = join(this.scratch, 'place')

  static async create(): Promise<Mounting> {
    const cli = new Mounting()
    mkdirSync(cli.place)
    await cli.ok('vault', 'create', 'base')
    return cli
  }

  /** Starts serving, and resolves when it is mounted. */
  async serve(...args: string[]): Promise<ChildProcessWithoutNullStreams> {
    const child = this.start(['mount', ...args])
    let complaint = ''
    child.stderr.setEncoding('utf8').on('data', (text) => {
      complaint += text
    })
    const [said] = await Promise.race([once(child.stdout, 'data'), once(child, 'exit')])
    expect(String(said), complaint).toContain('is mounted on')
    return child
  }

  /** Starts a program that uses the directory until its input ends. */
  inside(): ChildProcessWithoutNullStreams {
    const child = spawn('cat', { cwd: this.place })
    child.stdin.write('inside')
    return child
  }

  get isMounted(): boolean {
    return listFuseMounts().some(({ directory }) => directory === this.place)
  }
}

describe.skipIf(reason !== undefined)(`coppice mount${reason ? `: ${reason}` : ''}`, () => {
  it.skipIf(process.getuid?.() !== 0)('keeps an earlier mount at the same place', async () => {
    const cli = await Mounting.create()
    run('mount', '-t', 'tmpfs', 'disk', cli.place)
    onTestFinished(() => void run('umount', cli.place))
    writeFileSync(join(cli.place, 'on-disk'), '')
    const server = await cli.serve('base', cli.place)
    expect(readdirSync(cli.place)).toEqual([])
    server.kill('SIGINT')
    await once(server, 'exit')
    expect(readdirSync(cli.place)).toEqual(['on-disk'])
  })

  it('refuses to mount over another coppice mount, which continues', async () => {
    const cli = await Mounting.create()
    const server = await cli.serve('base', cli.place)
    writeFileSync(join(cli.place, 'f'), 'content')
    const second = await cli.run(['mount', 'base', cli.place])
    expect(second).toMatchObject({
      code: 1,
      stderr: expect.stringContaining('coppice:base is already mounted on'),
    })
    expect(readFileSync(join(cli.place, 'f'), 'utf8')).toBe('content')
    server.kill('SIGINT')
    await once(server, 'exit')
    expect(cli.isMounted).toBe(false)
  })

  it('shows a vault until it is unmounted, and names the programs that block that', async () => {
    const cli = await Mounting.create()
    const ended = once(await cli.serve('base', cli.place), 'exit')
    writeFileSync(join(cli.place, 'f'), 'content')
    expect(await cli.ok('cat', '/f')).toBe('content')
    const inside = cli.inside()
    await once(inside.stdout, 'data')
    const busy = await cli.run(['unmount', cli.place])
    expect(busy).toMatchObject({ code: 1, stderr: expect.stringContaining(`cat (${inside.pid})`) })
    inside.stdin.end()
    await once(inside, 'exit')
    expect(await cli.ok('unmount', cli.place)).toBe(`unmounted ${cli.place}\n`)
    expect(await ended).toEqual([0, null])
    expect(readdirSync(cli.place)).toEqual([])
  })

  it('ends with the program, also while it is in use', async () => {
    const cli = await Mounting.create()
    for (const signal of ['SIGINT', 'SIGTERM'] as const) {
      const server = await cli.serve('base', cli.place)
      const inside = cli.inside()
      await once(inside.stdout, 'data')
      server.kill(signal)
      await once(server, 'exit')
      expect(cli.isMounted).toBe(false)
      inside.stdin.end()
      await once(inside, 'exit')
    }
  })

  it('leaves nothing mounted when ^C comes during the mount', async () => {
    const cli = await Mounting.create()
    const bin = join(cli.scratch, 'bin')
    mkdirSync(bin)
    // As a terminal does it: the whole process group gets the signal.
    const slow = '#!/bin/sh\n/bin/mount "$@" && /bin/kill -INT -- "-$PPID"; sleep 0.1\n'
    writeFileSync(join(bin, 'mount'), slow, { mode: 0o755 })
    const env = {
      ...process.env,
      NODE_OPTIONS: '',
      COPPICE_HOME: cli.home,
      PATH: `${bin}:${process.env['PATH']}`,
    }
    const args = [join(root, 'bin/coppice.js'), 'mount', 'base', cli.place]
    const server = spawn(process.execPath, args, { env, detached: true })
    onTestFinished(() => {
      if (cli.isMounted) run('umount', '-l', cli.place)
    })
    await once(server, 'exit')
    expect(cli.isMounted).toBe(false)
  })

  it('shows everything a context sees, with its rights', async () => {
    const cli = await Mounting.create()
    const server = await cli.serve('/', cli.place, '--context', 'alice')
    writeFileSync(join(cli.place, 'workspace/f'), 'content')
    mkdirSync(join(cli.place, 'home/alice/notes'))
    expect(readdirSync(cli.place)).toEqual(expect.arrayContaining(['home', 'shared', 'workspace']))
    expect(() => writeFileSync(join(cli.place, 'f'), '')).toThrow('EACCES')
    expect(() => mkdirSync(join(cli.place, 'home/bob'))).toThrow('EACCES')
    server.kill('SIGTERM')
    await once(server, 'exit')
    expect(await cli.ok('cat', '/f')).toBe('content')
    expect(await cli.ok('log')).toContain('alice')
  })

  it('shows a fork of the vault, or a read-only mount', async () => {
    const cli = await Mounting.create()
    await cli.run(['write', '/f'], { input: 'base' })
    const server = await cli.serve('/', cli.place, '--fork', 'task')
    writeFileSync(join(cli.place, 'workspace/f'), 'task')
    server.kill('SIGTERM')
    await once(server, 'exit')
    expect(await cli.ok('cat', '/f', '--vault', 'base')).toBe('base')
    const viewer = await cli.serve('/', cli.place, '--vault', 'task', '--read-only')
    expect(readFileSync(join(cli.place, 'workspace/f'), 'utf8')).toBe('task')
    expect(() => writeFileSync(join(cli.place, 'workspace/f'), '')).toThrow('EROFS')
    viewer.kill('SIGTERM')
    await once(viewer, 'exit')
  })

  it('leaves ENOTCONN when killed, which unmount, doctor and the next mount clean up', async () => {
    const cli = await Mounting.create()
    const cleaners = [
      () => cli.run(['unmount', cli.place]),
      () => cli.ok('doctor'),
      async () => {
        const ended = once(await cli.serve('base', cli.place), 'exit')
        await cli.ok('unmount', cli.place)
        await ended
      },
    ]
    for (const clean of cleaners) {
      const server = await cli.serve('base', cli.place)
      server.kill('SIGKILL')
      await once(server, 'exit')
      // Another start, such as one of another test, may clean it up at any moment.
      if (cli.isMounted) expect(readOf(cli.place)).toMatch(/ENOTCONN|ECONNABORTED|^$/)
      await clean()
      expect(cli.isMounted).toBe(false)
      expect(readdirSync(cli.place)).toEqual([])
    }
  })

  it('refuses to unmount foreign mounts, and reports invalid options', async () => {
    const cli = await Mounting.create()
    expect(await cli.run(['unmount', '/proc'])).toMatchObject({
      code: 1,
      stderr: expect.stringContaining('/proc is not a coppice mount'),
    })
    expect(await cli.run(['mount', 'base', cli.place, '--context', 'alice'])).toMatchObject({
      code: 2,
      stderr: expect.stringContaining('--context needs a namespace: coppice mount /'),
    })
    expect(await cli.run(['mount', 'none', cli.place])).toMatchObject({ code: 1 })
    const missing = join(cli.place, 'none')
    expect(await cli.run(['mount', 'base', missing])).toMatchObject({
      code: 1,
      stderr: `coppice: there is no directory ${missing}; create it with mkdir\n`,
    })
    expect(cli.isMounted).toBe(false)
  })

  it.skipIf(whyNoOrdinaryMounts() !== undefined)('says who may open the device', () => {
    const script = `
      coppice vault create base > /dev/null; mkdir view
      coppice mount base view 2>&1 || coppice mount base view --background 2>&1 || coppice doctor`
    const allowed: readonly (readonly [access: string, remedy: string])[] = [
      ['chmod 600 "$1/fuse"', 'let users in: sudo chmod 666 /dev/fuse'],
      [
        'chgrp daemon "$1/fuse"; chmod 660 "$1/fuse"',
        'join its group: sudo usermod -aG daemon "$USER", then log in again',
      ],
    ]
    for (const [access, remedy] of allowed) {
      const { lines } = runAsOrdinaryUser(new Cli().scratch, script, access)
      const line = `coppice: cannot mount: this user may not open /dev/fuse; ${remedy}; coppice doctor shows the rest`
      expect(lines.slice(0, 2)).toEqual([line, line])
      expect(lines).toContain('no   fuse              this user may not open /dev/fuse')
      expect(lines).toContain(`  fuse: ${remedy}`)
    }
  })

  it.skipIf(whyNoOrdinaryMounts() !== undefined)('works for ordinary users, too', async () => {
    const cli = await Mounting.create()
    const bin = join(cli.scratch, 'bin')
    mkdirSync(bin)
    const ending = '#!/bin/sh\n/usr/bin/fusermount3 "$@"; [ "$1" != -o ] || kill -TERM $PPID\n'
    writeFileSync(join(bin, 'fusermount3'), ending, { mode: 0o755 })
    const { home, lines } = runAsOrdinaryUser(cli.scratch, ORDINARY_USER)
    expect(lines).toEqual([
      'vault: content',
      'imported: 65534:65534',
      'edited: 2',
      'committed: second',
      'twice: already',
      `in use: coppice: ${home}/place: the mount is in use by sh`,
      'unmounted: 0',
      'all: content',
      'denied: Permission denied',
      'terminated, in use: gone',
      'killed: swept',
      'ended while it is mounted: 143 gone',
    ])
  })
})

const ORDINARY_USER = `
  mkdir place
  git() { command git -c user.name=n -c user.email=n@localhost "$@"; }
  mkdir project; git init -q project; echo 1 > project/g; git -C project add g; git -C project commit -qm first
  coppice import project --vault base > $said
  serve base place; echo content > place/f; echo "vault: $(cat place/f)"
  echo "imported: $(stat -c %u:%g place/g)"
  sed -i s/1/2/ place/g && cp -a place/g place/h && echo "edited: $(cat place/h)"
  git -C place commit -qam second && echo "committed: $(git -C place log -1 --format=%s)"
  echo "twice: $(coppice mount base place 2>&1 | grep -o "already")"
  cd place; echo "in use: $(coppice unmount "$1/place" 2>&1 | grep -o ".*in use by sh")"; cd "$1"
  coppice unmount place > $said; wait; echo "unmounted: $(ls place | wc -l)"
  serve / place; echo "all: $(cat place/workspace/f)"
  echo "denied: $(sh -c ": > place/f" 2>&1 | grep -o "Permission denied")"
  cd place; kill -TERM $!; wait; cd "$1"; grep -q " $1/place " /proc/self/mountinfo || echo "terminated, in use: gone"
  serve base place; kill -KILL $!; wait
  serve base place; coppice unmount place > $said; wait; grep -q " $1/place " /proc/self/mountinfo || echo "killed: swept"
  PATH="$1/../bin:$PATH" "$node" "$repository/bin/coppice.js" mount base place > $said 2>&1; ended=$?
  grep -q " $1/place " /proc/self/mountinfo || echo "ended while it is mounted: $ended gone"
`

/** Lists a directory, or returns the error. */
function readOf(place: string): string {
  try {
    return readdirSync(place).join()
  } catch (error) {
    return String(error)
  }
}
