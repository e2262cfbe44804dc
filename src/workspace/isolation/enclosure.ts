import { type Trial, tryOut } from './trial.ts'

/**
 * How processes are put into namespaces of their own on this host.
 * As `root` with the machine's own, as a `user` in a user namespace in which it is root, or not at all.
 */
type Privilege = 'root' | 'user' | 'none'

export interface Enclosure {
  readonly privilege: Privilege
  /** Why there is none. */
  readonly reason?: string
}

/** What of the machine an enclosed process does not share, beside mounts and processes. */
export interface Unshared {
  readonly network?: boolean
  readonly ipc?: boolean
}

/**
 * The words that start a shell script in mount and process namespaces of its own, as their first process.
 * When it ends, or whoever started it does, the kernel ends every process in there, and the mounts with them.
 */
export function enclosed(
  privilege: 'root' | 'user',
  script: string,
  words: readonly string[] = [],
  unshared: Unshared = {},
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

let found: Promise<Enclosure> | undefined

/** What this host allows; found out once. */
export function findEnclosure(): Promise<Enclosure> {
  found ??= probe()
  return found
}

async function probe(): Promise<Enclosure> {
  if (process.platform !== 'linux') return { privilege: 'none', reason: 'namespaces are a thing of Linux' }
  const isRoot = process.getuid?.() === 0
  const tried: Trial[] = []
  for (const privilege of isRoot ? (['root', 'user'] as const) : (['user'] as const)) {
    const trial = await tryOut(enclosed(privilege, 'exit 0'))
    if (trial.works) return { privilege }
    tried.push(trial)
  }
  const [first] = tried
  return { privilege: 'none', reason: first?.works === false ? first.reason : 'it did not work' }
}
