import { type RunningFork, RunningForks } from '../../../boundary/index.ts'
import type { PublishedPort } from '../../../network/index.ts'
import { escapeName } from '../../../text/index.ts'
import type { LinkedDirectory } from '../../../workspace/index.ts'
import { type ForkChanges, listForkChanges } from '../../access/fork-changes.ts'
import { type OpenHome, withHome } from '../../access/home-access.ts'
import { listEnclosingDirectories, listLinkedDirectories } from '../../access/linked-access.ts'
import { type Command, defineCommand } from '../../framework/command.ts'
import { formatForkSize, formatSharedPath } from '../../render/format-values.ts'
import { formatTable } from '../../render/table.ts'

const MAX_SHOWN_PATHS = 3
const SECOND_MS = 1000
/** Units of an age in milliseconds, the largest first. */
const AGE_UNITS: readonly (readonly [size: number, unit: string])[] = [
  [86_400 * SECOND_MS, 'd'],
  [3600 * SECOND_MS, 'h'],
  [60 * SECOND_MS, 'min'],
  [SECOND_MS, 's'],
]
const NO_FORKS = 'no forks; create one with: coppice exec -- <command>'

export const forks: Command = defineCommand(
  {
    name: 'forks',
    summary: 'List the forks of this directory',
    details: `Lists the forks of this directory, then those of the directories around it.
Each line: name, time since it was used, changes, and the command that runs in it.
Below a fork: the addresses of its open ports, and paths that other forks change too.`,
    scope: 'home',
    options: {},
    examples: ['coppice forks', 'coppice forks --json'],
  },
  (call) =>
    withHome(call, async (open) => {
      const listed = await listForks(open)
      if (call.isJson) await call.output.writeValue(listed)
      else await call.output.writeLine(listed.length === 0 ? NO_FORKS : formatForks(listed).join('\n'))
    }),
)

/** A fork as `coppice forks` lists it. */
interface ListedFork extends Omit<ForkChanges, 'fork'> {
  readonly fork: string
  readonly directory: string
  /** Time when a command last ran in it; null for a new fork whose first command still runs. */
  readonly used: string | null
  /** The command that runs in it, and its start. */
  readonly running: { readonly command: string; readonly since: string } | null
  /** Open ports of the running command, and their addresses on this machine. */
  readonly ports: readonly Pick<PublishedPort, 'port' | 'url' | 'address'>[]
}

async function listForks({ home, path }: OpenHome): Promise<ListedFork[]> {
  const directories = listEnclosingDirectories()
  const running = RunningForks.of(path)
    .list()
    .filter(({ directory }) => directories.includes(directory))
  const links = await listLinkedDirectories(home)
  const storedForks = (await Promise.all(links.map((link) => listStoredForks(link, running)))).flat()
  const newForks = running.filter(({ fork }) => !storedForks.some((each) => each.fork === fork))
  return [...newForks.map(toNewFork), ...storedForks]
}

/** Lists a fork that is not stored yet, because its first command still runs. */
function toNewFork(running: RunningFork): ListedFork {
  const { fork, directory } = running
  return {
    fork,
    directory,
    used: null,
    files: 0,
    commits: 0,
    lines: null,
    running: toRunningJson(running),
    ports: listPorts(running),
    shared: [],
  }
}

async function listStoredForks(
  link: LinkedDirectory,
  running: readonly RunningFork[],
): Promise<ListedFork[]> {
  const changes = await listForkChanges(link, await link.listForks())
  return changes.map(({ fork, ...counts }) => {
    const active = running.find(({ fork: name }) => name === fork.name)
    return {
      fork: fork.name,
      directory: link.path,
      used: fork.used.toISOString(),
      ...counts,
      running: active === undefined ? null : toRunningJson(active),
      ports: active === undefined ? [] : listPorts(active),
    }
  })
}

function listPorts({ ports = [] }: RunningFork): ListedFork['ports'] {
  return ports.map(({ port, url, address }) => ({ port, url, address }))
}

function toRunningJson({ command, since }: RunningFork): NonNullable<ListedFork['running']> {
  return { command, since: new Date(since).toISOString() }
}

function formatForks(listed: readonly ListedFork[]): string[] {
  const rows = formatTable(listed.map(toCells))
  return listed.flatMap((fork, index) => [
    rows[index] ?? '',
    ...fork.ports.map(({ url, address }) => `  ${url} (other protocols: ${address})`),
    ...fork.shared.slice(0, MAX_SHOWN_PATHS).map(formatSharedPath),
  ])
}

function toCells(listed: ListedFork): string[] {
  const { fork, used, running } = listed
  const age = used === null ? 'now' : formatAge(Date.now() - Date.parse(used))
  return [
    fork,
    running === null ? age : 'now',
    used === null ? '' : formatForkSize(listed),
    running === null ? '' : `runs ${escapeName(running.command)}`,
  ]
}

/** Formats a time since something in its largest unit: `4 min ago`. */
function formatAge(ms: number): string {
  const [size, unit] = AGE_UNITS.find(([size]) => ms >= size) ?? [SECOND_MS, 's']
  return `${Math.max(0, Math.floor(ms / size))} ${unit} ago`
}
