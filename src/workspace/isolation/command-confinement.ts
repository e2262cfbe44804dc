import { existsSync, lstatSync, readdirSync, realpathSync } from 'node:fs'
import { userInfo } from 'node:os'
import { join } from 'node:path'
import { type CommandLimits, type IsolationPlan, privateDirectories } from './isolation-plan.ts'
import { secretPaths } from './secret-paths.ts'
import { type ResolvedPath, resolveVisiblePaths, splitHiddenPaths } from './visible-paths.ts'

/** Name of the empty file that replaces a hidden file, in the directory of the session. */
export const EMPTY_FILE = 'empty'

/** A file or directory that a confined command sees as empty. */
export interface HiddenPath {
  readonly path: string
  readonly isDirectory: boolean
}

/** An isolation plan resolved on this machine. Hidden and visible paths are real paths, and the hidden ones exist. */
export interface CommandConfinement {
  readonly plan: IsolationPlan
  readonly limits: CommandLimits
  readonly privilege: 'root' | 'user'
  readonly user: { readonly uid: number; readonly gid: number }
  /** The session's directory. It contains the empty file. */
  readonly directory: string
  readonly workspace: string
  readonly isReadonly: boolean
  readonly hasTerminal: boolean
  readonly hidden: readonly HiddenPath[]
  /** Hidden directories that show the visible paths inside them. */
  readonly opened: readonly HiddenPath[]
  readonly visible: readonly ResolvedPath[]
  /** The real path of the user's home directory. */
  readonly home?: string
  /**
   * The user's home directory, unless it is the root or in the workspace. An overlay over it discards the command's
   * changes.
   */
  readonly scratch?: string
  /** Sockets to show although their directory is private. */
  readonly sockets: readonly string[]
  /** Files to show although their directory is private. */
  readonly visibleFiles: readonly string[]
}

export interface ConfinementSpec {
  readonly directory: string
  readonly plan: IsolationPlan
  readonly limits: CommandLimits
  readonly privilege: 'root' | 'user'
  readonly workspace: string
  /** The real path of the directory that the workspace copies. */
  readonly copyOf?: string
  readonly isReadonly?: boolean
  readonly hasTerminal?: boolean
}

/** Resolves an isolation plan on this machine. */
export function resolveConfinement(spec: ConfinementSpec): CommandConfinement {
  const { plan, workspace } = spec
  const home = plan.userHome === undefined ? undefined : resolvePath(plan.userHome)
  const visible = home === undefined ? [] : resolveVisiblePaths(plan.visible ?? [], home, plan.hidden ?? [])
  const { whole, opened } = splitHiddenPaths(findHiddenPaths(plan), visible)
  const copied = findExistingPaths(whole.flatMap(({ path }) => toCopyPaths(spec, path)))
  const outside = findExistingPaths(plan.hiddenOutside ?? [])
  const resolver = plan.network ? resolvePath('/etc/resolv.conf') : undefined
  return {
    ...spec,
    isReadonly: spec.isReadonly ?? false,
    hasTerminal: spec.hasTerminal ?? false,
    user: { uid: process.getuid?.() ?? 0, gid: process.getgid?.() ?? 0 },
    hidden: dropCovered([...whole, ...copied, ...outside], workspace),
    opened,
    visible,
    sockets: (plan.sockets ?? []).filter(isPrivateSocket),
    ...(home !== undefined && { home }),
    ...(home !== undefined && home !== '/' && !isWithin(home, workspace) && { scratch: home }),
    visibleFiles: [...(resolver === undefined ? [] : [resolver]), ...(plan.files ?? [])].filter(
      isPrivatePath,
    ),
  }
}

/** Leaves out the workspace, and what an empty directory covers anyway: nothing could be mounted there. */
function dropCovered(hidden: readonly HiddenPath[], workspace: string): HiddenPath[] {
  const covers = hidden.filter(({ path, isDirectory }) => isDirectory && !isWithin(workspace, path))
  return hidden.filter(
    ({ path }) =>
      path !== workspace && !covers.some((cover) => cover.path !== path && isWithin(path, cover.path)),
  )
}

function isPrivateSocket(path: string): boolean {
  return isPrivatePath(path) && lstatSync(path, { throwIfNoEntry: false })?.isSocket() === true
}

function isPrivatePath(path: string): boolean {
  return privateDirectories.some((directory) => isWithin(path, directory))
}

/** Finds the existing paths that a plan hides, as real paths. Returns none without isolation. */
export function findHiddenPaths(plan: Pick<IsolationPlan, 'level' | 'userHome' | 'hidden'>): HiddenPath[] {
  if (plan.level === 'none') return []
  return findExistingPaths([...listSecretPaths(plan), ...(plan.hidden ?? [])])
}

/** True if a path is the directory or lies below it. */
export function isWithin(path: string, directory: string): boolean {
  return path === directory || directory === '/' || path.startsWith(`${directory}/`)
}

/** Lists the paths below which secrets may be, in the given home directory and in that of the account. */
function listSecretPaths({ userHome }: Pick<IsolationPlan, 'userHome'>): string[] {
  if (userHome === undefined) return []
  // A program or an agent may set another home directory, but the keys stay in that of the account.
  const homes = new Set([userHome, findAccountHome() ?? userHome].filter((home) => home !== ''))
  return [...homes].flatMap(listSecretPathsIn)
}

/**
 * Lists the secret paths in a home directory whose first name exists there. One listing of the directory is faster than
 * a check of every path.
 */
function listSecretPathsIn(home: string): string[] {
  const present = listNamesFolded(home)
  const isPossible = (path: string) => present?.has(path.replace(/\/.*/, '').toLowerCase()) !== false
  return secretPaths.filter(isPossible).map((path) => `${home}/${path}`)
}

/** Lists the names in a directory, which may ignore case, in lower case; undefined if it cannot be listed. */
function listNamesFolded(directory: string): ReadonlySet<string> | undefined {
  try {
    return new Set(readdirSync(directory).map((name) => name.toLowerCase()))
  } catch {
    // Its entries may be accessible nevertheless.
    return undefined
  }
}

function findAccountHome(): string | undefined {
  try {
    return userInfo().homedir
  } catch {
    // The account has no name on this machine, as in some containers.
    return undefined
  }
}

/** Returns the path inside the workspace if the workspace copies a directory that contains `path`. */
function toCopyPaths({ copyOf, workspace }: ConfinementSpec, path: string): string[] {
  const isCopied = copyOf !== undefined && path !== copyOf && isWithin(path, copyOf)
  return isCopied ? [join(workspace, path.slice(copyOf.length))] : []
}

/** Finds those of some paths that exist. A thread for each call would take longer than the calls. */
function findExistingPaths(paths: readonly string[]): HiddenPath[] {
  return paths.flatMap(findExistingPath)
}

function findExistingPath(path: string): HiddenPath[] {
  // Most paths do not exist, and this is the fastest check.
  if (!existsSync(path)) return []
  const real = resolvePath(path)
  return real === undefined ? [] : [{ path: real, isDirectory: lstatSync(real).isDirectory() }]
}

function resolvePath(path: string): string | undefined {
  try {
    return realpathSync.native(path)
  } catch {
    // The path does not exist or is not readable: there is nothing to hide or show.
    return undefined
  }
}
