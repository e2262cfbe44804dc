import { createHash } from 'node:crypto'
import {
  chmodSync,
  linkSync,
  lstatSync,
  mkdirSync,
  mkdtempSync,
  readFileSync,
  readlinkSync,
  symlinkSync,
  utimesSync,
  writeFileSync,
} from 'node:fs'
import { dirname, join } from 'node:path'
import { defaultLimits, type IsolationPlan } from '../../src/workspace/isolation/index.ts'
import type { CommandSession, RunOutcome, RunSpec, SessionChange } from '../../src/workspace/session/index.ts'
import { openLine } from './session-line.ts'

/** Commands to run one after another in one session, each scenario in a base of its own. */
export interface ScenarioRun {
  readonly kind: CommandSession['kind']
  /** Where bases and sessions are made. */
  readonly place: string
  readonly scenarios: Readonly<Record<string, readonly string[]>>
}

/** Changes after the commands of a scenario, with second names and without, and those that the next session reports. */
export type ScenarioChanges = readonly [changes: string[], alone: string[], next: string[]]

const openly: IsolationPlan = { level: 'none', network: true }

/** Runs scenarios in a session, and in the next one that starts with what the first changed. */
export async function runScenarios({
  kind,
  place,
  scenarios,
}: ScenarioRun): Promise<Record<string, ScenarioChanges>> {
  const names = Object.keys(scenarios)
  const bases = seedBases(place, names.length)
  await using line = await openLine(kind, bases, mkdtempSync(join(place, 'sessions-')))
  await runEach(line.session, Object.values(scenarios))
  const changes = await line.session.changes()
  // What is staged has no second names: the file is there under each.
  const all = [changes, changes.map(withoutLink), (await line.next(changes)).map(withoutLink)]
  return Object.fromEntries(
    names.map((name, index) => {
      const [changes = [], alone = [], next = []] = all.map((each) => tell(below(`/s${index}`, each)))
      return [name, [changes, alone, next]]
    }),
  )
}

/** A directory with one base for each of some scenarios, `s0`, `s1`… */
export function seedBases(place: string, count: number): string {
  const bases = mkdtempSync(join(place, 'bases-'))
  for (let index = 0; index < count; index++) seedBase(join(bases, `s${index}`))
  return bases
}

/** Runs the commands of each scenario in its base. */
export async function runEach(
  session: CommandSession,
  scenarios: readonly (readonly string[])[],
): Promise<void> {
  for (const [index, commands] of scenarios.entries()) {
    for (const command of commands) await runShell(session, command, { cwd: `/s${index}` })
  }
}

/** The changes below a directory, as they look from there. */
function below(directory: string, changes: readonly SessionChange[]): SessionChange[] {
  const isBelow = ({ path }: SessionChange) => path.startsWith(`${directory}/`)
  return changes.filter(isBelow).map((change) => {
    const path = change.path.slice(directory.length)
    if (change.kind === 'gone' || change.linkOf === undefined) return { ...change, path }
    return { ...change, path, linkOf: change.linkOf.slice(directory.length) }
  })
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
  symlinkSync('dir', join(path, 'way'))
  return path
}

/** Runs a line of a shell in a session, with nothing in its environment but a PATH. */
export function runShell(
  session: CommandSession,
  shell: string,
  more: Partial<RunSpec> = {},
): Promise<RunOutcome> {
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
function tell(changes: readonly SessionChange[]): string[] {
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
  const content = readOpened([dirname(host), host])
  if (content.length < 64) return JSON.stringify(content.toString())
  return `${content.length} ${createHash('sha256').update(content).digest('hex').slice(0, 8)}`
}

/** Reads the last of these paths, each of which its owner may have been shut out from: as they were afterwards. */
function readOpened([path, ...deeper]: readonly string[], last = ''): Buffer {
  if (path === undefined) return readFileSync(last)
  const { mode } = lstatSync(path)
  const isShut = (mode & 0o500) === 0
  if (isShut) chmodSync(path, 0o700)
  try {
    return readOpened(deeper, path)
  } finally {
    if (isShut) chmodSync(path, mode & 0o7777)
  }
}

function withoutLink(change: SessionChange): SessionChange {
  if (change.kind === 'gone') return change
  const { linkOf: _, ...put } = change
  return put
}
