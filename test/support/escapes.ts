import { mkdirSync, writeFileSync } from 'node:fs'
import { join } from 'node:path'
import { type CommandLimits, defaultLimits, type IsolationPlan } from '../../src/workspace/isolation/index.ts'
import {
  type CommandSession,
  openSession,
  type RunOutcome,
  type SessionKind,
} from '../../src/workspace/session/index.ts'
import { VaultLine } from './session-line.ts'
import { runShell, seedBase } from './session-scenarios.ts'

/** Scripts that try to get out of a session, one after another. */
export interface EscapeRun {
  readonly kind: SessionKind
  /** Where `base`, `home`, `outside` and `sessions` are made; for FUSE a `vault` of the base too. */
  readonly place: string
  readonly plan: Omit<IsolationPlan, 'userHome' | 'hidden'>
  readonly limits?: Partial<CommandLimits>
  readonly timeoutMs?: number
  readonly escapes: Readonly<Record<string, string>>
}

/** What came of a script: all it printed, or why it did not run. */
interface Attempt {
  readonly printed: string
  readonly stopped?: string
  readonly refusal?: string
}

export interface EscapeReport {
  readonly kind: string
  readonly attempts: Readonly<Record<string, Attempt>>
  /** Paths that all of them together changed in the workspace. */
  readonly changed: readonly string[]
}

/** Runs scripts in a session over the base, with a home that has secrets. `$OUTSIDE` is a place that is not the workspace. */
export async function runEscapes(run: EscapeRun): Promise<EscapeReport> {
  const { place } = run
  const [home, outside] = [join(place, 'home'), join(place, 'outside')]
  seedHost(home, outside)
  await using stage = await openStage(run.kind, seedBase(join(place, 'base')), place)
  const { session, sessions, hidden } = stage
  const spec = {
    env: { PATH: '/usr/sbin:/usr/bin:/sbin:/bin', HOME: home, OUTSIDE: outside, SESSIONS: sessions },
    isolation: { ...run.plan, userHome: home, hidden },
    limits: { ...defaultLimits, ...run.limits },
    timeoutMs: run.timeoutMs ?? 60_000,
  }
  const attempts: Record<string, Attempt> = {}
  for (const [name, script] of Object.entries(run.escapes)) {
    attempts[name] = await runShell(session, script, spec).then(attemptOf, (error: unknown) => ({
      printed: '',
      refusal: String(error),
    }))
  }
  return { kind: session.kind, attempts, changed: (await session.changes()).map(({ path }) => path) }
}

/** A session, and what is hidden from its commands as the boundary would. */
interface Stage extends AsyncDisposable {
  readonly session: CommandSession
  readonly sessions: string
  readonly hidden: readonly string[]
}

async function openStage(kind: SessionKind, lower: string, place: string): Promise<Stage> {
  if (kind === 'fuse') {
    const at = join(place, 'vault')
    const line = await VaultLine.open(kind, lower, at)
    const [home, sessions] = [join(at, 'home'), join(at, 'sessions')]
    const dispose = () => line[Symbol.asyncDispose]()
    return { session: line.session, sessions, hidden: [home, sessions], [Symbol.asyncDispose]: dispose }
  }
  const sessions = join(place, 'sessions')
  const session = await openSession(kind, { lower, staged: [] }, { directory: sessions })
  return {
    session,
    sessions,
    hidden: [sessions],
    [Symbol.asyncDispose]: () => session[Symbol.asyncDispose](),
  }
}

function attemptOf({ stdout, stderr, stopped }: RunOutcome): Attempt {
  return { printed: Buffer.concat([stdout, stderr]).toString(), ...(stopped !== undefined && { stopped }) }
}

function seedHost(home: string, outside: string): void {
  for (const directory of [`${home}/.ssh`, `${home}/.config/gh`, `${home}/.minikube`, outside])
    mkdirSync(directory, { recursive: true })
  for (const name of ['.ssh/id', '.netrc', '.config/gh/hosts.yml', '.minikube/key', '.viminfo'])
    writeFileSync(join(home, name), 'SECRET\n')
  writeFileSync(join(home, 'notes'), 'plain\n')
  writeFileSync(join(outside, 'victim'), 'untouched\n')
}
