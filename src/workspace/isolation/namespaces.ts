import { memoizeAsync, type ProbeResult, runProbe } from './probe.ts'

/**
 * How processes are put into namespaces of their own on this host.
 * As `root` with the machine's own, as a `user` in a user namespace in which it is root, or not at all.
 */
type Privilege = 'root' | 'user' | 'none'

export interface NamespaceSupport {
  readonly privilege: Privilege
  /** Why there is none. */
  readonly reason?: string
}

/** What of the machine an enclosed process does not share, beside mounts and processes. */
export interface UnsharedNamespaces {
  readonly network?: boolean
  readonly ipc?: boolean
}

/**
 * The words that start a shell script in mount and process namespaces of its own, as their first process.
 * When it ends, or whoever started it does, the kernel ends every process in there, and the mounts with them.
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
 * The words that start a program in a mount namespace of its own, which others can then be started in: see `entering`.
 * It is ended with whoever started it, and the mounts with the last process that is in there.
 */
export function createMountNamespaceArgs(
  privilege: Exclude<Privilege, 'none'>,
  argv: readonly string[],
): string[] {
  const own = privilege === 'user' ? ['--user', '--map-root-user'] : []
  return ['setpriv', '--pdeathsig', 'KILL', '--', 'unshare', '--mount', ...own, '--', ...argv]
}

/** The words before others that are to be started where a process is that was put `apart`, in a directory. */
export function createEnterArgs(
  privilege: Exclude<Privilege, 'none'>,
  pid: number,
  directory: string,
): string[] {
  const own = privilege === 'user' ? ['--user', '--preserve-credentials'] : []
  const there = ['sh', '-c', 'cd -- "$0" && exec "$@"', directory]
  return ['nsenter', '--target', String(pid), '--mount', ...own, '--', ...there]
}

/** What this host most likely allows, without a trial. */
export function guessPrivilege(): 'root' | 'user' {
  return process.getuid?.() === 0 ? 'root' : 'user'
}

let knownSupport: NamespaceSupport | undefined

/** Takes note of an enclosure that has been seen to work, so that it needs no trial of its own. */
export function rememberNamespaces(privilege: 'root' | 'user'): void {
  knownSupport ??= { privilege }
}

/** Finds what this host allows; probed once. EUNAVAILABLE if the probe is inconclusive now. */
export const probeNamespaces: () => Promise<NamespaceSupport> = memoizeAsync(async () => {
  knownSupport ??= await tryPrivileges()
  return knownSupport
})

async function tryPrivileges(): Promise<NamespaceSupport> {
  if (process.platform !== 'linux') return { privilege: 'none', reason: 'namespaces are a thing of Linux' }
  const tried: ProbeResult[] = []
  for (const privilege of guessPrivilege() === 'root' ? (['root', 'user'] as const) : (['user'] as const)) {
    const trial = await runProbe(createNamespaceArgs(privilege, 'exit 0'))
    if (trial.works) return { privilege }
    tried.push(trial)
  }
  const [first] = tried
  return { privilege: 'none', reason: first?.works === false ? first.reason : 'it did not work' }
}
