import { readlinkSync } from 'node:fs'
import { listDescendants } from '../../machine/index.ts'
import { memoizeAsync, type ProbeResult, runProbe } from './probe.ts'

/**
 * The privilege with which this host creates namespaces. `root`: this process is root and needs no user namespace.
 * `user`: it becomes root in a user namespace of its own. `none`: the host allows neither.
 */
type Privilege = 'root' | 'user' | 'none'

export interface NamespaceSupport {
  readonly privilege: Privilege
  /** The reason if the privilege is `none`. */
  readonly reason?: string
}

/** Namespaces that a process gets of its own, in addition to mounts and processes. */
export interface UnsharedNamespaces {
  readonly network?: boolean
  readonly ipc?: boolean
}

/**
 * Returns the command line that starts a shell script in its own mount and process namespaces, as their first process.
 * When it or its parent ends, the kernel kills every process in them and removes the mounts.
 */
export function createNamespaceArgs(
  privilege: 'root' | 'user',
  script: string,
  words: readonly string[] = [],
  unshared: UnsharedNamespaces = {},
): string[] {
  return [
    'setpriv',
    ...['--pdeathsig', 'KILL', '--'],
    ...['unshare', '--mount', '--pid', '--fork', '--kill-child', '--mount-proc'],
    ...(privilege === 'user' ? ['--user', '--map-root-user'] : []),
    ...(unshared.network ? ['--net'] : []),
    ...(unshared.ipc ? ['--ipc', '--uts'] : []),
    ...['--', 'sh', '-c', script, 'coppice', ...words],
  ]
}

/**
 * Returns the command line that starts a program in its own mount namespace; `createEnterArgs` starts others in it. The
 * program ends with its parent, and the mounts with the last process.
 */
export function createMountNamespaceArgs(
  privilege: Exclude<Privilege, 'none'>,
  argv: readonly string[],
): string[] {
  const userArgs = privilege === 'user' ? ['--user', '--map-root-user'] : []
  return ['setpriv', '--pdeathsig', 'KILL', '--', 'unshare', '--mount', ...userArgs, '--', ...argv]
}

/**
 * Returns the start of a command line that runs a program in a directory inside the mount namespace of a process; the
 * program's own words follow it.
 */
export function createEnterArgs(
  privilege: Exclude<Privilege, 'none'>,
  pid: number,
  directory: string,
): string[] {
  // Root in a user namespace may enter only namespaces that belong to it, so this enters the user namespace too.
  const userArgs = privilege === 'user' ? ['--user', '--preserve-credentials'] : []
  const shellArgs = ['sh', '-c', 'cd -- "$0" && exec "$@"', directory]
  return ['nsenter', '--target', String(pid), '--mount', ...userArgs, '--', ...shellArgs]
}

/**
 * Returns the start of a command line that runs a program in the network of a process, with the files and processes of
 * this machine; the program's own words follow it.
 */
export function createNetworkEnterArgs(pid: number): string[] {
  const hasUserNamespace = readNamespace(pid, 'user') !== readNamespace('self', 'user')
  const userArgs = hasUserNamespace ? ['--user', '--preserve-credentials'] : []
  return [
    'setpriv',
    ...['--pdeathsig', 'KILL', '--'],
    ...['nsenter', '--target', String(pid), '--net', ...userArgs, '--'],
  ]
}

/** Finds the first of a process and its descendants that is in a process namespace other than ours. */
export function findNamespacedProcess(pid: number): number | undefined {
  const own = readNamespace('self', 'pid')
  return [pid, ...listDescendants(pid)].find((found) => {
    const namespace = readNamespace(found, 'pid')
    return namespace !== undefined && namespace !== own
  })
}

/** True if a process uses the network of this one. An ended process counts as one that does: it has no other to enter. */
export function sharesNetworkWith(pid: number): boolean {
  const network = readNamespace(pid, 'net')
  return network === undefined || network === readNamespace('self', 'net')
}

function readNamespace(pid: number | 'self', kind: 'net' | 'pid' | 'user'): string | undefined {
  try {
    return readlinkSync(`/proc/${pid}/ns/${kind}`)
  } catch {
    // The process has exited.
    return undefined
  }
}

/** Guesses the privilege without a probe. */
export function guessPrivilege(): 'root' | 'user' {
  return process.getuid?.() === 0 ? 'root' : 'user'
}

let knownSupport: NamespaceSupport | undefined

/** Records a privilege that worked elsewhere, which saves the probe. */
export function rememberNamespaces(privilege: 'root' | 'user'): void {
  knownSupport ??= { privilege }
}

/** Returns the privilege that is known to work; undefined if none is, or none was probed. */
export function getKnownPrivilege(): 'root' | 'user' | undefined {
  return knownSupport?.privilege === 'none' ? undefined : knownSupport?.privilege
}

/** Finds the privilege that this host allows; probed once. Throws EUNAVAILABLE if the probe is inconclusive now. */
export const probeNamespaces: () => Promise<NamespaceSupport> = memoizeAsync(async () => {
  knownSupport ??= await tryPrivileges()
  return knownSupport
})

async function tryPrivileges(): Promise<NamespaceSupport> {
  if (process.platform !== 'linux') return { privilege: 'none', reason: 'only Linux has namespaces' }
  const tried: ProbeResult[] = []
  for (const privilege of guessPrivilege() === 'root' ? (['root', 'user'] as const) : (['user'] as const)) {
    const trial = await runProbe(createNamespaceArgs(privilege, 'exit 0'))
    if (trial.works) return { privilege }
    tried.push(trial)
  }
  const [first] = tried
  return { privilege: 'none', reason: first?.works === false ? first.reason : 'the probe failed' }
}
