import { dirname } from 'node:path'
import { type Confinement, EMPTY_FILE, type HiddenPlace, isWithin } from './confinement.ts'
import { deviceLines } from './devices.ts'
import type { HostMount } from './host-mounts.ts'
import { memoryLines, readOnlyLines } from './mounts-at-once.ts'
import { keptCapabilities, kernelSettings, privateDirectories } from './plan.ts'
import { quote } from './quote.ts'

/** One page: there is no smaller size. */
const NOTHING = 'size=4096'
/** Any directory will do: what is bound to it has the directory itself in it. */
const OTHER_ROOT = '/tmp'

/** The lines that confine what comes after them in an enclosure, where bubblewrap is not installed. */
export function confiningLines(confinement: Confinement, mounts: readonly HostMount[]): string[] {
  const { directory, workspace, scratch, shown, limits } = confinement
  const isLost = scratch !== undefined && privateDirectories.some((place) => isWithin(scratch, place))
  const covered = [
    '/proc',
    '/dev',
    ...privateDirectories,
    workspace,
    ...(scratch === undefined ? [] : [scratch]),
  ]
  const seen = mounts.filter(({ path }) => !covered.some((place) => isWithin(path, place)))
  return [
    ...(confinement.privilege === 'user' ? [ONE_USER_NAMESPACE] : []),
    ...readOnlyLines(directory, seen),
    ...kernelSettings.map(settledLine),
    ...shown.map((path, index) => `cp ${quote(path)} shown-${index}`),
    ...(isLost ? [`exec 5<${quote(scratch)}`] : []),
    ...deviceLines(directory),
    ...memoryLines(
      directory,
      'private',
      privateDirectories.map((path) => ({ path, options: ['mode=1777', `size=${limits.scratchBytes}`] })),
    ),
    ...(isLost ? [broughtBack(scratch)] : []),
    ...shown.map((path, index) => `mkdir -p ${quote(dirname(path))}; cp shown-${index} ${quote(path)}`),
    ...memoryLines(
      directory,
      'around',
      confinement.hidden
        .filter(({ path }) => isWithin(workspace, path))
        .map(({ path }) => ({ path, options: [NOTHING] })),
    ),
  ]
}

/** The lines for what is hidden inside the workspace or beside it, once the workspace is in its place. */
export function hidingLines({ directory, hidden, workspace }: Confinement): string[] {
  const places = hidden.filter(({ path }) => !isWithin(workspace, path))
  const directories = places.filter(({ isDirectory }) => isDirectory)
  return [
    ...memoryLines(
      directory,
      'hidden',
      directories.map(({ path }) => ({ path, options: [NOTHING, 'ro'] })),
    ),
    ...places.filter((place) => !directories.includes(place)).map(hideFile),
  ]
}

/** The words before a command that take away what the enclosure gave it. */
export function droppingWords({ privilege, user }: Confinement): string[] {
  return privilege === 'user' ? [...asThemself(user), 'setpriv', '--no-new-privs', '--'] : rootDroppingWords()
}

/**
 * The words before a command of root that leave it few capabilities and no way to user namespaces, in which it would
 * have all of them again, those over control groups included. The kernel makes none for a process whose root directory
 * is not that of its mount namespace: the same tree, bound to another place, is such a root.
 */
export function rootDroppingWords(): string[] {
  const kept = keptCapabilities.map((name) => `+${name}`).join(',')
  return [
    ...['sh', '-c', `mount -n --rbind / ${OTHER_ROOT} && exec chroot ${OTHER_ROOT} "$@"`, 'sh'],
    ...['setpriv', '--no-new-privs', `--bounding-set=-all,${kept}`, '--inh-caps=-all', '--'],
  ]
}

/** The line that leaves a user, who is root in an enclosure, one more user namespace: the one of `asThemself`. */
const ONE_USER_NAMESPACE = 'echo 1 > /proc/sys/user/max_user_namespaces'

/** The words before a command that make a user, who is root in an enclosure, themself again. */
export function asThemself({ uid, gid }: { readonly uid: number; readonly gid: number }): string[] {
  return ['unshare', '--user', `--map-user=${uid}`, `--map-group=${gid}`, '--']
}

function settledLine(path: string): string {
  return `[ ! -e ${path} ] || mount -n -o bind,ro ${path} ${path}`
}

function hideFile({ path }: HiddenPlace): string {
  // By its name in the working directory: the path to that may be covered by now.
  return `[ ! -e ${quote(path)} ] || mount -n --no-canonicalize -o bind,ro ${EMPTY_FILE} ${quote(path)}`
}

/** A home below a private directory was held open meanwhile, as the workspace is. */
function broughtBack(path: string): string {
  return `mkdir -p ${quote(path)} && mount -n --no-canonicalize --bind /proc/self/fd/5 ${quote(path)} && exec 5<&-`
}
