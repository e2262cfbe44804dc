import { createHash } from 'node:crypto'
import {
  linkSync,
  mkdirSync,
  mkdtempSync,
  readFileSync,
  readlinkSync,
  symlinkSync,
  utimesSync,
  writeFileSync,
} from 'node:fs'
import { join } from 'node:path'
import { defaultLimits, type IsolationPlan } from '../../src/workspace/isolation/index.ts'
import {
  openSession,
  type RunOutcome,
  type RunSpec,
  type Session,
  type SessionChange,
  type StagedChange,
} from '../../src/workspace/session/index.ts'

/** Commands to run one after another in sessions over the same base. */
export interface ScenarioRun {
  readonly kind: 'overlay' | 'dir'
  /** Where bases and sessions are made. */
  readonly place: string
  readonly scenarios: Readonly<Record<string, readonly string[]>>
}

const openly: IsolationPlan = { level: 'none', network: true }

/** What a session says after the commands of each scenario, with second names and without, and what the next one says that starts with it. */
export async function runScenarios({
  kind,
  place,
  scenarios,
}: ScenarioRun): Promise<Record<string, string[][]>> {
  const told: Record<string, string[][]> = {}
  for (const [name, commands] of Object.entries(scenarios)) {
    const root = mkdtempSync(join(place, 'scenario-'))
    const lower = seedBase(join(root, 'base'))
    const options = { directory: join(root, 'sessions') }
    await using session = await openSession(kind, { lower, staged: [] }, options)
    for (const command of commands) await runShell(session, command)
    const changes = await session.changes()
    await using next = await openSession(kind, { lower, staged: changes.flatMap(stagedAs) }, options)
    // What is staged has no second names: the file is there under each.
    const alone = changes.map((change) => (change.kind === 'put' ? withoutLink(change) : change))
    told[name] = [tell(changes), tell(alone), tell(await next.changes())]
  }
  return told
}

/** A small tree with one of everything. */
export function seedBase(path: string): string {
  for (const directory of ['dir/sub', 'empty']) mkdirSync(join(path, directory), { recursive: true })
  const files = {
    'a.txt': 'alpha\n',
    'dir/one': '1\n',
    'dir/two': '2\n',
    'dir/sub/deep': 'd\n',
    'odd\nname': 'o\n',
  }
  for (const [name, content] of Object.entries({ ...files, twin: 't\n' })) {
    writeFileSync(join(path, name), content)
    utimesSync(join(path, name), 1_000_000_000, 1_000_000_000)
  }
  linkSync(join(path, 'twin'), join(path, 'twin2'))
  symlinkSync('a.txt', join(path, 'link'))
  return path
}

/** Runs a line of a shell in a session, with nothing in its environment but a PATH. */
export function runShell(session: Session, shell: string, more: Partial<RunSpec> = {}): Promise<RunOutcome> {
  return session.run({
    command: { shell },
    cwd: '/',
    env: { PATH: '/usr/sbin:/usr/bin:/sbin:/bin' },
    timeoutMs: 60_000,
    isolation: openly,
    limits: defaultLimits,
    ...more,
  })
}

/** Changes as sorted lines, without what differs from run to run. */
export function tell(changes: readonly SessionChange[]): string[] {
  return changes
    .map((change) => {
      if (change.kind === 'gone') return `${change.path}: gone`
      const { path, type, mode, linkOf } = change
      const content = linkOf === undefined ? contentOf(change) : `is ${linkOf}`
      return `${path}: ${type}${type === 'symlink' ? '' : ` ${mode.toString(8)}`}${content === '' ? '' : ` ${content}`}`
    })
    .sort()
}

function contentOf({ type, host }: Extract<SessionChange, { kind: 'put' }>): string {
  if (type === 'symlink') return readlinkSync(host)
  if (type !== 'file') return ''
  const content = readFileSync(host)
  if (content.length < 64) return JSON.stringify(content.toString())
  return `${content.length} ${createHash('sha256').update(content).digest('hex').slice(0, 8)}`
}

function withoutLink({ linkOf: _, ...put }: Extract<SessionChange, { kind: 'put' }>): SessionChange {
  return put
}

function stagedAs(change: SessionChange): StagedChange[] {
  if (change.kind === 'gone') return [change]
  const { type, host, path, mode, mtimeNs, uid, gid } = change
  if (type === 'other') return []
  const content = type === 'file' ? readFileSync(host) : new Uint8Array()
  const target = type === 'symlink' ? readlinkSync(host) : ''
  return [{ kind: 'put', path, type, mode, mtimeNs, uid, gid, target, content: () => [content] }]
}
