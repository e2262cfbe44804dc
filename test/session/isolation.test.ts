import { type ChildProcess, spawn } from 'node:child_process'
import { once } from 'node:events'
import {
  chmodSync,
  chownSync,
  closeSync,
  mkdirSync,
  mkdtempSync,
  openSync,
  readdirSync,
  readFileSync,
  rmSync,
  writeFileSync,
} from 'node:fs'
import { type AddressInfo, createServer, type Server } from 'node:net'
import { release, userInfo } from 'node:os'
import { join } from 'node:path'
import { afterAll, beforeAll, describe, expect, it } from 'vitest'
import { hasOwnPidLimit } from '../../src/workspace/isolation/index.ts'
import { whyNoMount } from '../fuse/mounted-vault.ts'
import { type EscapeReport, type EscapeRun, runEscapes } from '../support/escapes.ts'
import { programFile } from '../support/program-file.ts'
import { root } from '../support/run-node.ts'
import { run, runAsNobody, whyNoBubblewrap, whyNoOverlay, whyNotNobody } from '../support/tools.ts'

const NOBODY = 65534
const ANOTHER_GROUP = 100
/** A descriptor number that Node does not close for its children. */
const STRAY = 100
const isRoot = process.getuid?.() === 0
const withoutNobody = whyNotNobody()
const script = programFile('session-process')
const withoutNamespaces = whyNoOverlay()
const withoutBubblewrap = withoutNamespaces ?? whyNoBubblewrap()

let place = ''
let server: Server
let victim: ChildProcess

beforeAll(async () => {
  // Outside of /tmp, which is private to a command anyway.
  place = mkdtempSync(join(root, 'node_modules/.coppice-escape-'))
  chmodSync(place, 0o755)
  server = createServer((socket) => socket.end()).listen(0, '127.0.0.1')
  await once(server, 'listening')
  victim = spawn('sleep', ['1000'], { stdio: 'ignore' })
})

afterAll(() => {
  server.close()
  victim.kill('SIGKILL')
  rmSync(place, { recursive: true, force: true })
})

function port(): number {
  const address: AddressInfo | string | null = server.address()
  return typeof address === 'object' && address !== null ? address.port : 0
}

/** Scripts that print ESCAPED if they see that they got out; the host is checked in any case. */
function escapes(): Record<string, string> {
  const attack = 'echo x > "$OUTSIDE/victim" && echo ESCAPED'
  return {
    'reads secrets': 'cat ~/.ssh/id ~/.netrc ~/.config/gh/hosts.yml ~/.minikube/key ~/.viminfo; cat ~/notes',
    'reads other sessions': 'ls "$SESSIONS" | grep -v "^$(basename "$(dirname "$PWD")")$" && echo ESCAPED',
    'writes outside': `${attack}; touch "$OUTSIDE/new" && echo ESCAPED; rm -rf "$OUTSIDE"`,
    'writes through a link': 'ln -s "$OUTSIDE/victim" l; echo x > l && echo ESCAPED',
    'writes through /proc':
      'for p in self 1 $$; do echo x > "/proc/$p/root$OUTSIDE/victim" && echo ESCAPED; done',
    'mounts the host anew': `mount -o remount,bind,rw / && ${attack}; umount -l / ; ${attack}`,
    'becomes root of a namespace': `unshare -Urm sh -c 'mount -o remount,bind,rw /; ${attack}'`,
    'makes a user namespace':
      'for flags in -U -Ur -UrmC; do unshare $flags true && echo ESCAPED; done; unshare -U unshare -U true && echo ESCAPED',
    'writes to a control group':
      'mkdir c; for type in "cgroup2 -o rw" "cgroup -o freezer"; do unshare -UrmC mount -t $type none c && echo ESCAPED; done; find /sys/fs/cgroup -writable -type f | grep -q . && echo ESCAPED',
    'reaches the network': `bash -c 'exec 3<>/dev/tcp/127.0.0.1/${port()}' && echo ESCAPED`,
    'kills a process': `kill -9 ${victim.pid} && echo ESCAPED`,
    'traces a process': `timeout 5 strace -o /dev/null -p ${victim.pid} 2>&1 | grep -q attached && echo ESCAPED`,
    'leaves by /proc/self/root': 'cd /proc/self/root && echo x > "./$OUTSIDE/victim" && echo ESCAPED',
    'looks into a process': `cat /proc/${victim.pid}/environ /proc/${victim.pid}/mem && echo ESCAPED`,
    'makes a device': 'mknod d b 254 0 && head -c 1 d && echo ESCAPED',
    'sees devices and sockets':
      'ls /dev | grep -E "^(vd|sd|nvme|mem|fuse|kmsg)" && echo ESCAPED; ls -A /run /tmp',
    'sets the kernel':
      's=/proc/sys/vm/swappiness; v=$(cat $s); echo $v > $s && echo ESCAPED; [ -w $s ] && echo ESCAPED',
    'gains privileges': 'grep -q "NoNewPrivs:.*1" /proc/self/status || echo ESCAPED',
    'leaves something in the home': 'echo x > ~/left && cat ~/left',
    'leaves something in /tmp': 'echo x > "/tmp/$(basename "$OUTSIDE")-left" && echo kept > made',
    'leaves a process': 'setsid sleep 1000 > /dev/null 2>&1 &',
    'fills memory by /tmp': 'head -c 50000000 /dev/zero > /tmp/fill && echo ESCAPED',
    'fills the disk': 'i=0; while head -c 1000000 /dev/zero > fill$i; do i=$((i+1)); done',
  }
}

const limits = { scratchBytes: 2 ** 20, diskBytes: 50 * 2 ** 20 }

const means = [
  { means: 'bubblewrap', why: withoutBubblewrap },
  { means: 'unshare', why: withoutNamespaces },
] as const
const users = [
  { user: 'own', lack: undefined },
  { user: 'nobody', lack: withoutNobody },
] as const

const combinations = users.flatMap(({ user, lack }) =>
  means.flatMap(({ means, why }) => [
    { kind: 'auto' as const, user, means, why: lack ?? why },
    // Served live, the workspace is another; what confines is not, and two combinations see all of it.
    ...(means === (user === 'own' ? 'bubblewrap' : 'unshare')
      ? [{ kind: 'fuse' as const, user, means, why: whyNoMount() ?? lack ?? why }]
      : []),
  ]),
)

describe.each(combinations)('strict isolation: $kind session, $means, $user user', (combination) => {
  const { kind, means, user, why } = combination
  let report: EscapeReport = { kind: '', attempts: {}, changed: [] }
  let at = ''

  beforeAll(async () => {
    if (why !== undefined) return
    at = mkdtempSync(join(place, 'host-'))
    const plan = { level: 'strict', network: false, means } as const
    report = await attempted({ kind, place: at, plan, limits, escapes: escapes() }, user)
  })

  it.skipIf(why !== undefined)('stops every escape', () => {
    for (const [name, { printed, refusal }] of Object.entries(report.attempts)) {
      expect(refusal, name).toBeUndefined()
      expect(printed, name).not.toMatch(/ESCAPED|SECRET/)
    }
    expect(Object.keys(report.attempts)).toHaveLength(Object.keys(escapes()).length)
    expect(readFileSync(join(at, 'outside/victim'), 'utf8')).toBe('untouched\n')
    const made = kind === 'fuse' ? 'vault' : 'sessions'
    expect(readdirSync(at).sort()).toEqual(['base', 'home', 'outside', made])
    expect(readdirSync(join(at, 'outside'))).toEqual(['victim'])
    const seeded = ['.config', '.minikube', '.netrc', '.ssh', '.viminfo', 'notes']
    expect(readdirSync(join(at, 'home')).sort()).toEqual(seeded)
    expect(readdirSync(join(at, kind === 'fuse' ? 'vault/sessions' : 'sessions'))).toEqual([])
    expect(victim.exitCode ?? victim.signalCode).toBeNull()
  })

  it.skipIf(why !== undefined)(
    'lets a command work: its workspace, its home for a while, what is not secret',
    () => {
      expect(report.attempts['reads secrets']?.printed).toContain('plain')
      expect(report.attempts['leaves something in the home']?.printed).toBe('x\n')
      expect(report.changed).toContain('/made')
      // A live mount reports a full disk; elsewhere a command that writes too much is ended.
      const filled = report.attempts['fills the disk']
      if (kind === 'fuse') expect(filled?.printed).toContain('No space left')
      else expect(filled?.stopped).toBe('disk')
    },
  )
})

const withoutProcessLimit =
  isRoot && !hasOwnPidLimit(release()) ? 'this kernel does not limit the processes of root' : undefined

describe.each([{ user: 'own' }, { user: 'nobody' }] as const)('limits: $user', ({ user }) => {
  const why = (user === 'nobody' ? withoutNobody : undefined) ?? withoutBubblewrap ?? withoutProcessLimit

  it.skipIf(why !== undefined)('stop a fork bomb at the limit', async () => {
    const at = mkdtempSync(join(place, 'bomb-'))
    const bomb = 'i=0; while [ $i -lt 3000 ]; do sleep 1000 & i=$((i+1)); done; echo ESCAPED'
    const run = {
      kind: 'auto',
      place: at,
      plan: { level: 'strict', network: false },
      limits: { processes: 400 },
    } as const
    const { attempts } = await attempted({ ...run, escapes: { bomb } }, user)
    expect(attempts['bomb']).toMatchObject({ printed: expect.stringMatching(/fork/i) })
    expect(attempts['bomb']?.printed).not.toContain('ESCAPED')
  })
})

describe.each([
  { means: 'bubblewrap', why: withoutBubblewrap },
  { means: 'unshare', why: withoutNamespaces },
] as const)('a descriptor that the parent process left open: $means', ({ means, why }) => {
  it.skipIf(why !== undefined)('cannot be used to escape', async () => {
    const at = mkdtempSync(join(place, 'stray-'))
    const out = `/proc/self/fd/${STRAY}${at}`
    const escapes = {
      reads: `cat ${out}/home/.ssh/id`,
      writes: `echo x > ${out}/outside/victim && echo ESCAPED; ls -l /proc/self/fd`,
    }
    const plan = { level: 'strict', network: false, means } as const
    const { attempts } = await attempted({ kind: 'auto', place: at, plan, escapes }, 'own', { stray: '/' })
    expect(attempts['reads']?.printed).not.toContain('SECRET')
    expect(attempts['writes']?.printed).not.toContain('ESCAPED')
    expect(attempts['writes']?.printed).not.toMatch(/-> \/$/m)
    expect(readFileSync(join(at, 'outside/victim'), 'utf8')).toBe('untouched\n')
  })
})

const { homedir: accountHome } = userInfo()
const withoutOwnHome =
  withoutBubblewrap ??
  (isRoot && !`${root}/`.startsWith(`${accountHome}/`)
    ? undefined
    : 'only root can have another home for a while, and not with this checkout in it')

describe('a program with another home directory', () => {
  it.skipIf(withoutOwnHome !== undefined)("also hides the secrets of the account's home", () => {
    const at = mkdtempSync(join(place, 'homes-'))
    const read = { keys: `cat ${accountHome}/.ssh/id`, other: `cat ${accountHome}/notes` }
    const plan = { level: 'strict', network: false } as const
    const attack: EscapeRun = { kind: 'auto', place: at, plan, escapes: read }
    // Entered only once it is mounted: what is made in there is not to be made in the real one.
    const enter = 'mount -t tmpfs t "$0" && cd "$0" && mountpoint -q .'
    const fill = 'mkdir .ssh && echo SECRET > .ssh/id && echo plain > notes'
    const words = ['sh', '-c', `${enter} && ${fill} && exec "$@"`, accountHome, process.execPath, script]
    const answer = run('unshare', '--mount', ...words, JSON.stringify(attack))
    const { attempts }: EscapeReport = JSON.parse(answer)
    expect(attempts['keys']?.printed).toContain('No such file')
    expect(attempts['other']?.printed).toBe('plain\n')
  })
})

describe('without requested isolation, a command', () => {
  it.skipIf(withoutBubblewrap !== undefined)('can reach the network', async () => {
    const at = mkdtempSync(join(place, 'open-'))
    const reach = `bash -c 'exec 3<>/dev/tcp/127.0.0.1/${port()}' && cat /etc/resolv.conf > /dev/null && echo REACHED`
    const plan = { level: 'strict', network: true } as const
    const { attempts } = await runEscapes({ kind: 'auto', place: at, plan, escapes: { open: reach } })
    expect(attempts['open']?.printed).toBe('REACHED\n')
  })
})

describe.skipIf((withoutNobody ?? withoutNamespaces) !== undefined)('a directory of another group', () => {
  it('can be written by a permitted user in a copy, where an overlay could not', async () => {
    const at = mkdtempSync(join(place, 'group-'))
    mkdirSync(join(at, 'base'))
    chownSync(join(at, 'base'), NOBODY, ANOTHER_GROUP)
    // What is made in there has the same group.
    chmodSync(join(at, 'base'), 0o2755)
    const plan = { level: 'auto', network: false } as const
    const escapes = { write: 'echo more >> a.txt && echo new > dir/new && echo WRITTEN' }
    const report = await attempted({ kind: 'auto', place: at, plan, escapes }, 'nobody')
    expect(report.attempts['write']?.printed).toBe('WRITTEN\n')
    expect(report).toMatchObject({ kind: 'dir', changed: ['/a.txt', '/dir/new'] })
  })
})

describe.skipIf((withoutNobody ?? withoutNamespaces) !== undefined)('a file of another user', () => {
  it('that an overlay cannot copy is reported, with advice', async () => {
    const at = mkdtempSync(join(place, 'foreign-'))
    mkdirSync(join(at, 'base/theirs'), { recursive: true })
    for (const name of ['base/theirs', 'base/theirs/open', 'base/board']) {
      if (name !== 'base/theirs') writeFileSync(join(at, name), 'of root\n')
      chmodSync(join(at, name), 0o777)
    }
    chownSync(join(at, 'base'), NOBODY, NOBODY)
    const plan = { level: 'none', network: true } as const
    const escapes = {
      board: 'echo more >> board; echo own >> a.txt',
      deep: `python3 -c "open('theirs/open', 'a')"`,
      elsewhere: 'cd theirs && echo more >> open',
      made: 'echo new > theirs/new',
      fine: 'cat board; echo fine >> a.txt; echo oops >&2',
    }
    const report = await attempted({ kind: 'overlay', place: at, plan, escapes }, 'nobody')
    const printed = (name: string) => report.attempts[name]?.printed ?? ''
    expect(printed('board')).toMatch(/coppice: \/board \(uid 0, gid 0\) belongs .* session of kind 'dir'/)
    expect(printed('deep')).toContain('coppice: /theirs/open (uid 0, gid 0)')
    expect(printed('elsewhere')).toContain('coppice: what the command wanted to change belongs to another')
    expect(printed('made')).toContain('coppice: /theirs (uid 0, gid 0)')
    expect(printed('fine')).toBe('of root\noops\n')
    expect(report.changed).toEqual(['/a.txt'])
  })
})

describe.skipIf(withoutBubblewrap !== undefined)('a host without namespaces', () => {
  const escapes = {
    daemon: 'setsid sleep 1000 & (setsid sleep 1000 &); echo made > made; sleep 1000',
    after: 'cat /proc/[0-9]*/comm | grep -c sleep',
  }

  it('runs in a copy, ends all processes, and refuses strict isolation', () => {
    for (const level of ['auto', 'strict'] as const) {
      const at = mkdtempSync(join(place, 'bare-'))
      const attack: EscapeRun = {
        kind: 'auto',
        place: at,
        plan: { level, network: true },
        timeoutMs: 1000,
        escapes,
      }
      // A user namespace in which no other can be created.
      const bare = [
        '--die-with-parent',
        '--dev-bind',
        '/',
        '/',
        '--unshare-user',
        '--disable-userns',
        '--uid',
        '1',
        '--gid',
        '1',
      ]
      const words = [
        ...bare,
        '--unshare-pid',
        '--proc',
        '/proc',
        process.execPath,
        script,
        JSON.stringify(attack),
      ]
      const answer = run('timeout', '60', 'bwrap', ...words)
      const { kind, attempts, changed }: EscapeReport = JSON.parse(answer)
      expect(kind).toBe('dir')
      if (level === 'auto') {
        expect(attempts['daemon']).toMatchObject({ stopped: 'timeout' })
        expect(attempts['after']?.printed).toBe('0\n')
        expect(changed).toEqual(['/made'])
      } else
        expect(attempts['daemon']?.refusal).toMatch(/ENOTSUP: this host does not support strict isolation/)
    }
  })
})

async function attempted(
  run: EscapeRun,
  user: 'own' | 'nobody',
  { stray }: { readonly stray?: string } = {},
): Promise<EscapeReport> {
  if (user === 'own' && stray === undefined) return runEscapes(run)
  if (user === 'nobody') chownSync(run.place, NOBODY, NOBODY)
  if (run.kind === 'fuse') return JSON.parse(runAsNobody(process.execPath, script, JSON.stringify(run)))
  const left = stray === undefined ? [] : [openSync(stray, 'r')]
  const between = left.flatMap(() => Array.from({ length: STRAY - 3 }, () => 'ignore' as const))
  const child = spawn(process.execPath, [script, JSON.stringify(run)], {
    ...(user === 'nobody' && { uid: NOBODY, gid: NOBODY }),
    stdio: ['ignore', 'pipe', 'inherit', ...between, ...left],
  })
  for (const descriptor of left) closeSync(descriptor)
  let answer = ''
  child.stdout?.on('data', (chunk: Buffer) => {
    answer += chunk.toString()
  })
  await once(child, 'close')
  return JSON.parse(answer)
}
