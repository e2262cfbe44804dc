import { dirname } from 'node:path'
import { createReadOnlyLines, createTmpfsLines } from './batch-mounts.ts'
import { type CommandConfinement, EMPTY_FILE, type HiddenPath, isWithin } from './command-confinement.ts'
import type { HostMountPoint } from './host-mounts.ts'
import { keptCapabilities, kernelSettings, privateDirectories } from './isolation-plan.ts'
import { createDeviceLines } from './private-devices.ts'
import { quoteWord } from './quote.ts'

/** One page: there is no smaller size. */
const MIN_TMPFS_OPTION = 'size=4096'
/** Any directory will do: what is bound to it has the directory itself in it. */
const CHROOT_PATH = '/tmp'

/** The lines that confine what comes after them in an enclosure, where bubblewrap is not installed. */
export function createConfinementLines(
  confinement: CommandConfinement,
  mounts: readonly HostMountPoint[],
): string[] {
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
    ...createReadOnlyLines(directory, seen),
    ...kernelSettings.map(createReadOnlyBindLine),
    ...shown.map((path, index) => `cp ${quoteWord(path)} shown-${index}`),
    ...(isLost ? [`exec 5<${quoteWord(scratch)}`] : []),
    ...createDeviceLines(directory),
    ...createTmpfsLines(
      directory,
      'private',
      privateDirectories.map((path) => ({ path, options: ['mode=1777', `size=${limits.scratchBytes}`] })),
    ),
    ...(isLost ? [createRestoreLine(scratch)] : []),
    ...shown.map(
      (path, index) => `mkdir -p ${quoteWord(dirname(path))}; cp shown-${index} ${quoteWord(path)}`,
    ),
    ...createTmpfsLines(
      directory,
      'around',
      confinement.hidden
        .filter(({ path }) => isWithin(workspace, path))
        .map(({ path }) => ({ path, options: [MIN_TMPFS_OPTION] })),
    ),
  ]
}

/** The lines for what is hidden inside the workspace or beside it, once the workspace is in its place. */
export function createHidingLines({ directory, hidden, workspace }: CommandConfinement): string[] {
  const places = hidden.filter(({ path }) => !isWithin(workspace, path))
  const directories = places.filter(({ isDirectory }) => isDirectory)
  return [
    ...createTmpfsLines(
      directory,
      'hidden',
      directories.map(({ path }) => ({ path, options: [MIN_TMPFS_OPTION, 'ro'] })),
    ),
    ...places.filter((place) => !directories.includes(place)).map(createHideFileLine),
  ]
}

/** The words before a command that take away what the enclosure gave it. */
export function createPrivilegeDropArgs({ privilege, user }: CommandConfinement): string[] {
  return privilege === 'user'
    ? [...createUserMappingArgs(user), 'setpriv', '--no-new-privs', '--']
    : createRootDropArgs()
}

/**
 * The words before a command of root that leave it few capabilities and no way to user namespaces, in which it would
 * have all of them again, those over control groups included. The kernel makes none for a process whose root directory
 * is not that of its mount namespace: the same tree, bound to another place, is such a root.
 */
export function createRootDropArgs(): string[] {
  const kept = keptCapabilities.map((name) => `+${name}`).join(',')
  return [
    ...['sh', '-c', `mount -n --rbind / ${CHROOT_PATH} && exec chroot ${CHROOT_PATH} "$@"`, 'sh'],
    ...['setpriv', '--no-new-privs', `--bounding-set=-all,${kept}`, '--inh-caps=-all', '--'],
  ]
}

/** The line that leaves a user, who is root in an enclosure, one more user namespace: the one of `asThemself`. */
const ONE_USER_NAMESPACE = 'echo 1 > /proc/sys/user/max_user_namespaces'

/** The words before a command that make a user, who is root in an enclosure, themself again. */
export function createUserMappingArgs({
  uid,
  gid,
}: {
  readonly uid: number
  readonly gid: number
}): string[] {
  return ['unshare', '--user', `--map-user=${uid}`, `--map-group=${gid}`, '--']
}

function createReadOnlyBindLine(path: string): string {
  return `[ ! -e ${path} ] || mount -n -o bind,ro ${path} ${path}`
}

function createHideFileLine({ path }: HiddenPath): string {
  // By its name in the working directory: the path to that may be covered by now.
  return `[ ! -e ${quoteWord(path)} ] || mount -n --no-canonicalize -o bind,ro ${EMPTY_FILE} ${quoteWord(path)}`
}

/** A home below a private directory was held open meanwhile, as the workspace is. */
function createRestoreLine(path: string): string {
  return `mkdir -p ${quoteWord(path)} && mount -n --no-canonicalize --bind /proc/self/fd/5 ${quoteWord(path)} && exec 5<&-`
}
