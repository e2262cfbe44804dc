import { spawn } from 'node:child_process'
import { once } from 'node:events'
import { chmodSync, chownSync, mkdtempSync, readdirSync, rmSync } from 'node:fs'
import { open } from 'node:fs/promises'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { setTimeout as delay } from 'node:timers/promises'
import { afterAll, beforeAll, describe, expect, it } from 'vitest'
import { defaultLimits, type IsolationPlan } from '../../src/workspace/isolation/index.ts'
import { type CommandSession, openSession, sweepSessions } from '../../src/workspace/session/index.ts'
import { programFile } from '../support/program-file.ts'
import { runShell, seedBase } from '../support/session-scenarios.ts'
import { run, runAsNobody, whyNoBubblewrap, whyNoOverlay, whyNotNobody } from '../support/tools.ts'

let place = ''
const withoutOverlay = whyNoOverlay()
const kinds = withoutOverlay === undefined ? (['overlay', 'dir'] as const) : (['dir'] as const)

beforeAll(() => {
  place = mkdtempSync(join(tmpdir(), 'coppice-run-'))
})

afterAll(() => rmSync(place, { recursive: true, force: true }))

function text(bytes: Uint8Array): string {
  return Buffer.from(bytes).toString()
}

async function opened(kind: 'overlay' | 'dir'): Promise<CommandSession> {
  const at = mkdtempSync(join(place, 'run-'))
  return openSession(
    kind,
    { lower: seedBase(join(at, 'base')), staged: [] },
    { directory: join(at, 'sessions') },
  )
}

/** A pipe that ends when the last process that holds it has ended. */
async function witness(): Promise<{ path: string; isOver: () => Promise<string> }> {
  const path = join(mkdtempSync(join(place, 'witness-')), 'pipe')
  run('mkfifo', path)
  // Opened for both, so that neither side blocks; the command is the only other writer.
  const file = await open(path, 'r+')
  return {
    path,
    async isOver() {
      const reader = await open(path, 'r')
      await file.close()
      const content = await reader.readFile('utf8')
      await reader.close()
      return content
    },
  }
}

const NOBODY = 65_534
const FILL = 'while :; do head -c 4000000 /dev/zero > $((i=i+1)); done'
/** More than a pipe holds besides the part that was read. */
const SOME_PIPES = 160_000
/** Longer than the wait for the output of a process that could not be killed. */
const SLOWLY_MS = 1100

/** Two of them nested exceed the length of a path. */
const CHAIN = Array.from({ length: 15 }, () => 'd'.repeat(200)).join('/')
const DEEP = `mkdir -p ${CHAIN} x/${CHAIN}; echo end > x/${CHAIN}/end; mv x ${CHAIN}/x`

describe.each(kinds)('a command in a session: %s', (kind) => {
  it('may create paths that are too long: they are reported, not kept, and removed with the session', async () => {
    const at = mkdtempSync(join(place, 'deep-'))
    const [lower, directory] = [seedBase(join(at, 'base')), join(at, 'sessions')]
    for (const _ of ['the first', 'the next']) {
      const session = await openSession(kind, { lower, staged: [] }, { directory })
      expect(await runShell(session, `${DEEP}; echo seen > seen`)).toMatchObject({ exitCode: 0 })
      const changes = await session.changes()
      expect(changes.map(({ path }) => path)).toContain('/seen')
      const deep = changes.filter(({ path }) => path.startsWith(`/${CHAIN}/x/`))
      expect(deep.at(-1)).toMatchObject({ type: 'other', host: '' })
      await session[Symbol.asyncDispose]()
      expect(readdirSync(directory)).toEqual([])
    }
  })

  it('waits for a slow reader of its output, without losing or buffering', async () => {
    await using session = await opened(kind)
    let [heard, waiting, mostWaiting] = [0, 0, 0]
    // All but the beginning is read slowly: the last chunk arrives long after the command has ended.
    const onOutput = async (_stream: string, { length }: Uint8Array): Promise<void> => {
      heard += length
      mostWaiting = Math.max(mostWaiting, ++waiting)
      await delay(heard > SOME_PIPES / 4 ? SLOWLY_MS : 1)
      waiting--
    }
    await runShell(session, `head -c ${SOME_PIPES} /dev/zero`, { onOutput })
    expect({ heard, mostWaiting }).toEqual({ heard: SOME_PIPES, mostWaiting: 1 })
  })

  it('cannot hide writes from the disk limit in deep directories', async () => {
    await using session = await opened(kind)
    const down = `mkdir -p ${CHAIN} x/${CHAIN}; cd x/${CHAIN}; (cd "$OLDPWD" && mv x ${CHAIN}/x)`
    const limits = { ...defaultLimits, diskBytes: 40_000_000 }
    const outcome = await runShell(session, `${down}; ${FILL}`, { limits, timeoutMs: 20_000 })
    expect(outcome.stopped).toBe('disk')
  })

  it.skipIf(whyNotNobody() !== undefined)('of a user cannot hide them in a closed directory, either', () => {
    const own = mkdtempSync(join(place, 'nobody-'))
    chmodSync(place, 0o755)
    chownSync(own, NOBODY, NOBODY)
    const script = 'while mkdir $((i=i+1)); do head -c 4000000 /dev/zero > $i/f; chmod 0 $i; done'
    const work = JSON.stringify({ kind, place: own, script, diskBytes: 40_000_000 })
    const program = programFile('limited-process')
    expect(runAsNobody(process.execPath, program, work)).toBe('disk\n')
  })

  it('returns its output and exit code, and runs in its directory', async () => {
    await using session = await opened(kind)
    const outcome = await runShell(session, 'pwd; echo problem > /dev/stderr; exit 3', { cwd: '/dir/sub' })
    expect(text(outcome.stdout)).toBe(`${session.path}/dir/sub\n`)
    expect(text(outcome.stderr)).toBe('problem\n')
    expect(outcome).toMatchObject({ exitCode: 3, signal: null, timedOut: false, truncated: false })
  })

  it('reports a signal as a shell does', async () => {
    await using session = await opened(kind)
    expect(await runShell(session, 'kill -TERM $$')).toMatchObject({ exitCode: 143, signal: 'SIGTERM' })
  })

  it('gets its arguments literally', async () => {
    await using session = await opened(kind)
    const argv = ['printf', '%s|', '$HOME', "it's", 'a\nb', '']
    const { stdout } = await runShell(session, '', { command: { argv } })
    expect(text(stdout)).toBe("$HOME|it's|a\nb||")
  })

  it('exits with 127 if it does not exist', async () => {
    await using session = await opened(kind)
    const outcome = await runShell(session, '', { command: { argv: ['no-such-program'] } })
    expect(outcome.exitCode).toBe(127)
    expect(text(outcome.stderr)).toContain('no-such-program')
  })

  it('gets exactly the given environment, whatever the names', async () => {
    await using session = await opened(kind)
    const env = { PATH: '/usr/bin:/bin', 'npm_config_//host/:_auth': "a'b", LD_PRELOAD: '', BASH_ENV: 'x' }
    const { stdout } = await runShell(session, '', { command: { argv: ['env', '-0'] }, env })
    const found = text(stdout)
      .split('\0')
      .filter((line) => line !== '' && !line.startsWith('COPPICE_RUN='))
    expect(found.sort()).toEqual(
      Object.entries(env)
        .map((pair) => pair.join('='))
        .sort(),
    )
  })

  it('reads the given input, or none', async () => {
    await using session = await opened(kind)
    expect(text((await runShell(session, 'cat /dev/stdin', { stdin: 'given' })).stdout)).toBe('given')
    expect(text((await runShell(session, 'cat')).stdout)).toBe('')
  })

  it('streams its output, and keeps it up to a limit', async () => {
    await using session = await opened(kind)
    let heard = 0
    const outcome = await runShell(session, 'head -c 300000 /dev/zero', {
      limits: { ...defaultLimits, outputBytes: 1000 },
      onOutput: (_stream, chunk) => {
        heard += chunk.length
      },
    })
    expect(heard).toBe(300_000)
    expect(outcome.stdout).toHaveLength(1000)
    expect(outcome.truncated).toBe(true)
  })

  it('is stopped at its timeout with all its processes, also outside of its group', async () => {
    await using session = await opened(kind)
    const { path, isOver } = await witness()
    const script = `exec 9>'${path}'; setsid sleep 1000 & (setsid sh -c 'trap "" TERM; sleep 1000' &); sleep 1000`
    const outcome = await runShell(session, script, { timeoutMs: 500 })
    expect(outcome).toMatchObject({ exitCode: null, signal: 'SIGKILL', timedOut: true, stopped: 'timeout' })
    expect(text(outcome.stderr)).toBe('')
    expect(await isOver()).toBe('')
  })

  it('ends on abort', async () => {
    await using session = await opened(kind)
    const calling = new AbortController()
    const outcome = await runShell(session, 'echo on; sleep 1000', {
      signal: calling.signal,
      onOutput: () => calling.abort(),
    })
    expect(outcome).toMatchObject({ exitCode: null, timedOut: false, stopped: 'abort' })
    expect(await runShell(session, 'true', { signal: calling.signal })).toMatchObject({ stopped: 'abort' })
  })

  it('leaves nothing running when it ends by itself', async () => {
    await using session = await opened(kind)
    const { path, isOver } = await witness()
    await runShell(session, `exec 9>'${path}'; setsid sleep 1000 > /dev/null 2>&1 &`)
    expect(await isOver()).toBe('')
  })

  it('is stopped at its disk limit', async () => {
    await using session = await opened(kind)
    const limits = { ...defaultLimits, diskBytes: 20 * 2 ** 20 }
    const script = 'i=0; while :; do i=$((i+1)); head -c 4000000 /dev/zero > fill$i || exit 9; done'
    expect(await runShell(session, script, { limits })).toMatchObject({ exitCode: null, stopped: 'disk' })
  })

  it('keeps everything but names and targets that are not UTF-8, which it reports', async () => {
    const at = mkdtempSync(join(place, 'names-'))
    const lower = seedBase(join(at, 'base'))
    run(
      'sh',
      '-c',
      `cd '${lower}' && mkdir only && touch "$(printf '\\377')" "$(printf 'only/\\377')" "$(printf 'dir/\\376')"`,
    )
    run(
      'sh',
      '-c',
      `cd '${lower}' && ln -s "$(printf '\\377')" dir/away && ln -s "$(printf '\\377')" dir/same`,
    )
    await using session = await openSession(kind, { lower, staged: [] }, { directory: join(at, 'sessions') })
    const links = `ln -sfn "$(printf '\\376')" dir/away; ln -s "$(printf '\\377')" dir/made`
    const odd = `echo o > "$(printf 'dir/\\375')"; echo x > "$(printf 'dir/\\376')"; ${links}`
    await runShell(session, `${odd}; echo n > only/new; rm -r dir/sub; mkdir dir/sub`)
    const changes = await session.changes()
    expect(changes.map((change) => [change.path, change.kind === 'put' && change.type])).toEqual([
      ['/dir/\\xfd', 'other'],
      ['/dir/\\xfe', 'other'],
      ['/dir/away', 'other'],
      ['/dir/made', 'other'],
      ['/dir/sub/deep', false],
      ['/only/new', 'file'],
    ])
  })

  it.skipIf(withoutOverlay !== undefined)('cannot change a read-only workspace', async () => {
    const plans: readonly IsolationPlan[] = [
      { level: 'none', network: true },
      { level: 'strict', network: false, means: 'unshare' },
      { level: 'strict', network: false, means: whyNoBubblewrap() === undefined ? 'bubblewrap' : 'unshare' },
    ]
    for (const isolation of plans) {
      await using session = await opened(kind)
      const script = 'echo x > new; echo x > a.txt; rm -r dir; cat a.txt; ls dir > /dev/null && echo still'
      const { stdout } = await runShell(session, script, { isReadonly: true, isolation })
      expect(text(stdout), JSON.stringify(isolation)).toBe('alpha\nstill\n')
      expect(await session.changes()).toEqual([])
    }
  })

  it.skipIf(withoutOverlay !== undefined)('is limited in memory', async () => {
    await using session = await opened(kind)
    const limits = { ...defaultLimits, memoryBytes: 64 * 2 ** 20 }
    const { stdout } = await runShell(session, 'head -c 200000000 /dev/zero | tail -n 1 | wc -c', { limits })
    expect(text(stdout)).toBe('0\n')
  })

  it('is stopped when its processes together exceed the memory limit, not for reserved memory', async () => {
    await using session = await opened(kind)
    const limits = { ...defaultLimits, watchedMemoryBytes: 96 * 2 ** 20 }
    const reserve = 'import mmap; mmap.mmap(-1, 2**40, flags=mmap.MAP_PRIVATE | 0x4000)'
    expect(text((await runShell(session, `python3 -c '${reserve}; print(1)'`, { limits })).stdout)).toBe(
      '1\n',
    )
    const take = "python3 -c 'x = bytes([1]) * 64000000; input()'"
    const outcome = await runShell(session, `mkfifo p; ${take} < p & ${take} < p & exec 3> p; wait`, {
      limits,
    })
    expect(outcome).toMatchObject({ exitCode: null, stopped: 'memory' })
  })

  it('leaves nothing behind when its session ends', async () => {
    const session = await opened(kind)
    await runShell(session, 'mkdir -p x/y; chmod 0 x/y x')
    await session[Symbol.asyncDispose]()
    const [own] = readdirSync(place).filter((name) => session.path.includes(name))
    expect(readdirSync(join(place, own ?? '', 'sessions'))).toEqual([])
  })
})

describe('a process that is killed', () => {
  it('takes its commands along, and the next start removes its leftovers', async () => {
    const at = mkdtempSync(join(place, 'killed-'))
    const path = join(at, 'pipe')
    run('mkfifo', path)
    const held = await open(path, 'r+')
    const work = {
      kind: kinds[0],
      place: at,
      scenarios: { one: [`exec 9>'${path}'; echo on >&9; sleep 1000`] },
    }
    const script = programFile('session-process')
    const child = spawn(process.execPath, [script, JSON.stringify(work)], { stdio: 'ignore' })
    await held.read({ length: 3 })
    child.kill('SIGKILL')
    await once(child, 'exit')
    const reader = await open(path, 'r')
    await held.close()
    expect(await reader.readFile('utf8')).toBe('')
    await reader.close()
    const left = readdirSync(at).find((name) => name.startsWith('sessions-')) ?? ''
    expect(await sweepSessions(join(at, left, 'sessions'))).toBe(1)
    expect(readdirSync(join(at, left, 'sessions'))).toEqual([])
  })
})
