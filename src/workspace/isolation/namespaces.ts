import { memoizeAsync, type ProbeResult, runProbe } from './probe.ts'

/**
 * The privilege with which this host creates namespaces. `root` uses the machine's own user namespace; `user` is root
 * in a user namespace; `none` cannot create any.
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
 * Returns the arguments that start a shell script in its own mount and process namespaces, as their first process.
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
 * Returns the arguments that start a program in its own mount namespace. `createEnterArgs` starts others in it. The
 * program ends with its parent, and the mounts with the last process.
 */
export function createMountNamespaceArgs(
  privilege: Exclude<Privilege, 'none'>,
  argv: readonly string[],
): string[] {
  const own = privilege === 'user' ? ['--user', '--map-root-user'] : []
  return ['setpriv', '--pdeathsig', 'KILL', '--', 'unshare', '--mount', ...own, '--', ...argv]
}

/** Returns the arguments that start a program in a directory inside the mount namespace of a process. */
export function createEnterArgs(
  privilege: Exclude<Privilege, 'none'>,
  pid: number,
  directory: string,
): string[] {
  const own = privilege === 'user' ? ['--user', '--preserve-credentials'] : []
  const shellArgs = ['sh', '-c', 'cd -- "$0" && exec "$@"', directory]
  return ['nsenter', '--target', String(pid), '--mount', ...own, '--', ...shellArgs]
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
