import { spawn } from 'node:child_process'
import { once } from 'node:events'
import {
  chmodSync,
  chownSync,
  existsSync,
  mkdirSync,
  mkdtempSync,
  readdirSync,
  readFileSync,
  rmSync,
  symlinkSync,
  writeFileSync,
} from 'node:fs'
import { createServer } from 'node:net'
import { tmpdir } from 'node:os'
import { dirname, join } from 'node:path'
import { text } from 'node:stream/consumers'
import { afterAll, beforeAll, describe, expect, it, onTestFinished } from 'vitest'
import type { VisiblePath } from '../../src/workspace/isolation/index.ts'
import { type EscapeReport, type EscapeRun, runEscapes } from '../support/escapes.ts'
import { programFile } from '../support/program-file.ts'
import { root } from '../support/run-node.ts'
import { run, whyNoBubblewrap, whyNoOverlay, whyNotNobody } from '../support/tools.ts'

const NOBODY = 65534
const script = programFile('session-process')
const withoutNamespaces = whyNoOverlay()

let place = ''

beforeAll(() => {
  place = mkdtempSync(join(root, 'node_modules/.coppice-view-'))
  run('chmod', '755', place)
})

afterAll(() => {
  run('chmod', '-R', 'u+rwX', place)
  rmSync(place, { recursive: true, force: true })
})

const means = [
  { means: 'bubblewrap', why: withoutNamespaces ?? whyNoBubblewrap() },
  { means: 'unshare', why: withoutNamespaces },
] as const
const users = [
  { user: 'own', lack: undefined },
  { user: 'nobody', lack: whyNotNobody() },
] as const
const combinations = users.flatMap(({ user, lack }) =>
  means.map(({ means, why }) => ({ user, means, why: lack ?? why })),
)

const HOME_FILES = {
  '.agent/settings.json': 'settings',
  '.agent/token.json': 'token 1',
  '.agent/cache/netrc': 'cached',
  '.agent.json': 'state',
  '.ssh/id': 'SECRET\n',
  '.ssh/known_hosts': 'hosts',
  '.codex/auth.json': 'SECRET',
  '.gitconfig': 'git',
} as const

const MODES: Readonly<Record<string, VisiblePath['mode']>> = {
  '.agent/': 'copy',
  '.agent/token.json': 'share',
  '.agent.json': 'copy',
  '.ssh/known_hosts': 'read',
  '.claude/': 'copy',
  '.claude/.credentials.json': 'share',
  '.gitconfig': 'read',
  '.data/': 'share',
}

interface Stage {
  readonly at: string
  readonly home: string
  run(
    escapes: Readonly<Record<string, string>>,
    visible?: readonly VisiblePath[],
    sockets?: readonly string[],
  ): Promise<EscapeReport>
}

/** Creates a home with files, and runs scripts that see a part of it. */
function stage(user: 'own' | 'nobody', means: 'bubblewrap' | 'unshare'): Stage {
  const at = mkdtempSync(join(place, 'host-'))
  const home = join(at, 'home')
  for (const [name, content] of Object.entries(HOME_FILES)) {
    mkdirSync(dirname(join(home, name)), { recursive: true })
    writeFileSync(join(home, name), content)
  }
  mkdirSync(join(home, '.data'))
  const all = Object.entries(MODES).map(([name, mode]) => ({
    path: join(home, name.replace(/\/$/, '')),
    mode,
    isDirectory: name.endsWith('/'),
  }))
  return {
    at,
    home,
    run: (escapes, visible = all, sockets = []) => {
      const plan = {
        level: 'strict',
        network: false,
        means,
        visible,
        sockets,
        copies: join(at, 'copies'),
      } as const
      rmSync(join(at, 'base'), { recursive: true, force: true })
      return attempted({ kind: 'auto', place: at, plan, escapes }, user)
    },
  }
}

async function attempted(run: EscapeRun, user: 'own' | 'nobody'): Promise<EscapeReport> {
  if (user === 'own') return runEscapes(run)
  chownTree(run.place)
  const child = spawn(process.execPath, [script, JSON.stringify(run)], {
    uid: NOBODY,
    gid: NOBODY,
    stdio: ['ignore', 'pipe', 'inherit'],
  })
  return JSON.parse(await text(child.stdout))
}

function chownTree(path: string): void {
  run('chown', '-R', '-h', `${NOBODY}:${NOBODY}`, path)
  chownSync(path, NOBODY, NOBODY)
}

describe.each(combinations)('the visible part of the home: $means, $user user', ({ user, means, why }) => {
  const itHere = it.skipIf(why !== undefined)

  itHere('is exactly what the plan names', async () => {
    const { run } = stage(user, means)
    const { attempts } = await run({
      shown: 'cat ~/.agent/settings.json ~/.agent/token.json ~/.agent.json ~/.ssh/known_hosts ~/.gitconfig',
      hidden: 'cat ~/.ssh/id ~/.codex/auth.json ~/.netrc; ls -A ~/.ssh ~/.codex',
      read: 'echo x >> ~/.ssh/known_hosts; echo x >> ~/.gitconfig; cat ~/.ssh/known_hosts ~/.gitconfig',
    })
    expect(attempts['shown']).toEqual({ printed: 'settingstoken 1statehostsgit' })
    expect(attempts['hidden']?.printed).not.toContain('SECRET')
    expect(attempts['hidden']?.printed).toMatch(/\.ssh:\nknown_hosts\n/)
    expect(attempts['read']?.printed).toMatch(/^hostsgit.*: Read-only file system\n/)
  })

  itHere('keeps copies for the next command, and leaves the real files', async () => {
    const { run, home } = stage(user, means)
    const change = `echo more >> ~/.agent/settings.json; mkdir -p ~/.agent/sessions ~/.claude/projects
      echo 1 > ~/.agent/sessions/a; echo 2 > ~/.claude/projects/b; rm ~/.agent/cache/netrc
      echo new > ~/.agent.json.tmp && mv ~/.agent.json.tmp ~/.agent.json && echo moved`
    const first = await run({ change })
    expect(first.attempts['change']).toEqual({ printed: 'moved\n' })
    const look =
      'cat ~/.agent/settings.json ~/.agent/sessions/a ~/.claude/projects/b ~/.agent.json; ls ~/.agent/cache'
    const second = await run({ look, again: look })
    expect(second.attempts['look']).toEqual({ printed: 'settingsmore\n1\n2\nnew\n' })
    expect(second.attempts['again']).toEqual(second.attempts['look'])
    for (const [name, content] of Object.entries(HOME_FILES))
      expect(readFileSync(join(home, name), 'utf8'), name).toBe(content)
    expect(existsSync(join(home, '.claude'))).toBe(false)
  })

  itHere('passes changes of shared files on, also those by a rename', async () => {
    const { run, home, at } = stage(user, means)
    const { attempts } = await run({
      inPlace: 'echo "token 2" > ~/.agent/token.json',
      renamed:
        'cat ~/.agent/token.json; echo "token 3" > ~/.agent/t && mv ~/.agent/t ~/.agent/token.json; cat ~/.agent/token.json',
      made: 'echo login > ~/.claude/.credentials.json; echo d > ~/.data/d',
      removed: 'rm ~/.agent/token.json',
      link: 'cat ~/.agent/token.json; ln -sf ~/.codex/auth.json ~/.agent/token.json',
      last: 'cat ~/.agent/token.json',
    })
    expect(attempts['renamed']).toEqual({ printed: 'token 2\ntoken 3\n' })
    expect(attempts['link']).toEqual({ printed: 'token 3\n' })
    expect(attempts['last']).toEqual({ printed: 'token 3\n' })
    expect(readFileSync(join(home, '.agent/token.json'), 'utf8')).toBe('token 3\n')
    expect(readFileSync(join(home, '.claude/.credentials.json'), 'utf8')).toBe('login\n')
    expect(readFileSync(join(home, '.data/d'), 'utf8')).toBe('d\n')
    // A login is not kept with the copies.
    expect(findTokens(join(at, 'copies'))).toBe('')
  })

  itHere('has the sockets that the plan names', async () => {
    const { run, at } = stage(user, means)
    const directory = mkdtempSync(join(tmpdir(), 'coppice-agent-'))
    const path = join(directory, 'agent.sock')
    const server = createServer((socket) => socket.end('agent here\n')).listen(path)
    onTestFinished(() => {
      server.close()
      rmSync(directory, { recursive: true, force: true })
    })
    await once(server, 'listening')
    chmodSync(directory, 0o755)
    chmodSync(path, 0o777)
    const connect = `python3 -c 'import socket; s = socket.socket(socket.AF_UNIX); s.connect("${path}"); print(s.recv(99).decode())'`
    const without = await run({ connect })
    expect(without.attempts['connect']?.printed).toContain('No such file')
    const shown = await run({ connect }, [], [path, join(at, 'elsewhere.sock')])
    expect(shown.attempts['connect']).toEqual({ printed: 'agent here\n\n' })
  })

  itHere('passes a change on while the command runs, in both directions', async () => {
    const { run, home } = stage(user, means)
    const token = '~/.agent/token.json'
    const wait = `i=0; until grep -q outside ${token} || [ $i = 600 ]; do sleep 0.1; i=$((i+1)); done; cat ${token}`
    const ended = new AbortController()
    const watch = watchFile(join(home, '.agent/token.json'), 'inside', 'outside', ended.signal)
    const { attempts } = await run({ wait: `echo inside > ${token}; ${wait}` })
    ended.abort()
    await watch
    expect(attempts['wait']).toEqual({ printed: 'outside' })
  })
})

describe('a visible path', () => {
  const itHere = it.skipIf(withoutNamespaces !== undefined)
  const visible = (path: string): VisiblePath[] => [{ path, mode: 'read', isDirectory: false }]

  itHere('that a link leads out of the home is refused', async () => {
    const { run, home, at } = stage('own', 'unshare')
    writeFileSync(join(at, 'other'), 'SECRET')
    symlinkSync(join(at, 'other'), join(home, '.linked'))
    const { attempts } = await run({ read: 'cat ~/.linked' }, visible(join(home, '.linked')))
    expect(attempts['read']?.refusal).toMatch(
      /EINVAL: .*\.linked leads to .*other, which is not inside the home/,
    )
  })

  itHere('in a closed directory is refused', async () => {
    const { run, home, at } = stage('own', 'unshare')
    symlinkSync(join(at, 'sessions'), join(home, '.linked'))
    const inside = await run({ read: 'ls ~/.linked' }, visible(join(home, '.linked')))
    expect(inside.attempts['read']?.refusal).toMatch(/EINVAL/)
  })

  itHere('lets no link of a command lead the next one to other files', async () => {
    const { run, home } = stage('own', 'unshare')
    mkdirSync(join(home, '.agent/sub'))
    writeFileSync(join(home, '.agent/sub/auth.json'), 'login')
    const nested: VisiblePath[] = [
      { path: join(home, '.agent'), mode: 'copy', isDirectory: true },
      { path: join(home, '.agent/sub/auth.json'), mode: 'share', isDirectory: false },
    ]
    const swap = 'rm -rf ~/.agent/sub; ln -s ~/.codex ~/.agent/sub; sleep 0.5'
    const { attempts } = await run({ swap, look: 'cat ~/.agent/sub/auth.json' }, nested)
    expect(attempts['look']?.printed).not.toContain('SECRET')
    expect(readFileSync(join(home, '.agent/sub/auth.json'), 'utf8')).toBe('login')
    expect(readFileSync(join(home, '.codex/auth.json'), 'utf8')).toBe('SECRET')
    expect(readdirSync(join(home, '.codex'))).toEqual(['auth.json'])
  })
})

/** Waits until a file has a text, then replaces it by a rename. The signal ends the wait. */
async function watchFile(
  path: string,
  awaited: string,
  replacement: string,
  signal: AbortSignal,
): Promise<void> {
  while (readFileSync(path, 'utf8').trim() !== awaited) {
    if (signal.aborted) return
    await new Promise((resolve) => setTimeout(resolve, 50))
  }
  writeFileSync(`${path}.new`, replacement)
  run('chown', '--reference', path, `${path}.new`)
  run('mv', `${path}.new`, path)
}

function findTokens(directory: string): string {
  return run('sh', '-c', 'grep -rl -e token -e login "$0" || :', directory)
}
