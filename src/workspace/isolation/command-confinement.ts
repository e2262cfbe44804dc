import { existsSync } from 'node:fs'
import { lstat, realpath } from 'node:fs/promises'
import { userInfo } from 'node:os'
import { join } from 'node:path'
import type { CommandLimits, IsolationPlan } from './isolation-plan.ts'
import { secretPaths } from './secret-paths.ts'

/** Name of the empty file that replaces a hidden file, in the directory of the session. */
export const EMPTY_FILE = 'empty'

/** A place that a confined command finds empty. */
export interface HiddenPath {
  readonly path: string
  readonly isDirectory: boolean
}

/** A plan, held against this machine: what is hidden exists, and every path is real. */
export interface CommandConfinement {
  readonly plan: IsolationPlan
  readonly limits: CommandLimits
  readonly privilege: 'root' | 'user'
  readonly user: { readonly uid: number; readonly gid: number }
  /** Of the session, with the empty file in it. */
  readonly directory: string
  /** Path of the workspace. */
  readonly workspace: string
  readonly isReadonly: boolean
  readonly hidden: readonly HiddenPath[]
  /** A directory whose changes are thrown away: mounted so before the command is confined. */
  readonly scratch?: string
  /** Paths that are shown though their directory is private. */
  readonly shown: readonly string[]
}

export interface ConfinementSpec {
  readonly directory: string
  readonly plan: IsolationPlan
  readonly limits: CommandLimits
  readonly privilege: 'root' | 'user'
  readonly workspace: string
  /** The real path of what the workspace is a copy of. */
  readonly copyOf?: string
  readonly isReadonly?: boolean
}

/** Finds on this machine what a plan is about. */
export async function resolveConfinement(spec: ConfinementSpec): Promise<CommandConfinement> {
  const { plan, workspace } = spec
  const home = plan.userHome === undefined ? undefined : await resolvePath(plan.userHome)
  const hidden = await findHiddenPaths(plan)
  const copied = await findExistingPaths(hidden.flatMap(({ path }) => toCopyPaths(spec, path)))
  const resolver = plan.network ? await resolvePath('/etc/resolv.conf') : undefined
  return {
    ...spec,
    isReadonly: spec.isReadonly ?? false,
    user: { uid: process.getuid?.() ?? 0, gid: process.getgid?.() ?? 0 },
    hidden: [...hidden, ...copied].filter(({ path }) => path !== workspace),
    ...(home !== undefined && home !== '/' && !isWithin(home, workspace) && { scratch: home }),
    shown: resolver?.startsWith('/run/') ? [resolver] : [],
  }
}

/** Finds the places of this machine that a plan hides, by their real paths; none without isolation. */
export async function findHiddenPaths(
  plan: Pick<IsolationPlan, 'level' | 'userHome' | 'hidden'>,
): Promise<HiddenPath[]> {
  if (plan.level === 'none') return []
  return findExistingPaths([...listSecretPaths(plan), ...(plan.hidden ?? [])])
}

/** True if a path is a directory or in it. */
export function isWithin(path: string, directory: string): boolean {
  return path === directory || directory === '/' || path.startsWith(`${directory}/`)
}

/** Lists paths of secrets below the named home directory, and below that of the account. */
function listSecretPaths({ userHome }: Pick<IsolationPlan, 'userHome'>): string[] {
  if (userHome === undefined) return []
  // A program or an agent may use another home directory: the keys remain in that of the account.
  const homes = new Set([userHome, findAccountHome() ?? userHome].filter((home) => home !== ''))
  return [...homes].flatMap((home) => secretPaths.map((name) => join(home, name)))
}

function findAccountHome(): string | undefined {
  try {
    return userInfo().homedir
  } catch {
    // The account has no name on this machine, as in some containers.
    return undefined
  }
}

/** Returns the paths of a machine's path in a workspace that is a copy of a directory around it. */
function toCopyPaths({ copyOf, workspace }: ConfinementSpec, path: string): string[] {
  const isCopied = copyOf !== undefined && path !== copyOf && isWithin(path, copyOf)
  return isCopied ? [join(workspace, path.slice(copyOf.length))] : []
}

async function findExistingPaths(paths: readonly string[]): Promise<HiddenPath[]> {
  return (await Promise.all(paths.map(findExistingPath))).flat()
}

async function findExistingPath(path: string): Promise<HiddenPath[]> {
  // Most are not there, which is known the fastest this way.
  if (!existsSync(path)) return []
  const at = await resolvePath(path)
  return at === undefined ? [] : [{ path: at, isDirectory: (await lstat(at)).isDirectory() }]
}

async function resolvePath(path: string): Promise<string | undefined> {
  try {
    return await realpath(path)
  } catch {
    // Not there, or not for us: then there is nothing to hide or to show.
    return undefined
  }
}
