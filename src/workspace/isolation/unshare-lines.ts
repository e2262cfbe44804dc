import { dirname } from 'node:path'
import { createReadOnlyLines, createTmpfsLines } from './batch-mounts.ts'
import { type CommandConfinement, EMPTY_FILE, type HiddenPath, isWithin } from './command-confinement.ts'
import type { HostMountPoint } from './host-mounts.ts'
import { keptCapabilities, kernelSettings, privateDirectories } from './isolation-plan.ts'
import { createDeviceLines } from './private-devices.ts'
import { quoteWord } from './quote.ts'

/** One page, the smallest size a tmpfs can have. */
const MIN_TMPFS_OPTION = 'size=4096'
/** Any directory works, since the bound tree contains it too. */
const CHROOT_PATH = '/tmp'

/** Returns shell lines that confine the command after them, for hosts without bubblewrap. */
export function createConfinementLines(
  confinement: CommandConfinement,
  mounts: readonly HostMountPoint[],
): string[] {
  const { directory, workspace, scratch, visibleFiles, limits } = confinement
  const isHomePrivate =
    scratch !== undefined && privateDirectories.some((directory) => isWithin(scratch, directory))
  const covered = [
    '/proc',
    '/dev',
    ...privateDirectories,
    workspace,
    ...(scratch === undefined ? [] : [scratch]),
  ]
  const uncovered = mounts.filter(({ path }) => !covered.some((directory) => isWithin(path, directory)))
  return [
    ...(confinement.privilege === 'user' ? [ONE_USER_NAMESPACE] : []),
    ...createReadOnlyLines(directory, uncovered),
    ...kernelSettings.map(createReadOnlyBindLine),
    ...visibleFiles.map((path, index) => `cp ${quoteWord(path)} shown-${index}`),
    ...(isHomePrivate ? [`exec 5<${quoteWord(scratch)}`] : []),
    ...createDeviceLines(directory),
    ...createTmpfsLines(
      directory,
      'private',
      privateDirectories.map((path) => ({ path, options: ['mode=1777', `size=${limits.scratchBytes}`] })),
    ),
    ...(isHomePrivate ? [createRestoreLine(scratch)] : []),
    ...visibleFiles.map(
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

/** Returns shell lines that hide paths inside or beside the workspace. They run after it is mounted. */
export function createHidingLines({ directory, hidden, workspace }: CommandConfinement): string[] {
  const hiddenPaths = hidden.filter(({ path }) => !isWithin(workspace, path))
  const directories = hiddenPaths.filter(({ isDirectory }) => isDirectory)
  return [
    ...createTmpfsLines(
      directory,
      'hidden',
      directories.map(({ path }) => ({ path, options: [MIN_TMPFS_OPTION, 'ro'] })),
    ),
    ...hiddenPaths.filter((hidden) => !directories.includes(hidden)).map(createHideFileLine),
  ]
}

/** Returns the arguments before a command that drop the privileges of the namespace. */
export function createPrivilegeDropArgs({ privilege, user }: CommandConfinement): string[] {
  return privilege === 'user'
    ? [...createUserMappingArgs(user), 'setpriv', '--no-new-privs', '--']
    : createRootDropArgs()
}

/**
 * Returns the arguments before a command of root that leave it few capabilities and no new user namespaces. In a user
 * namespace it would regain all capabilities, those over control groups included. The kernel refuses one to a process
 * whose root directory differs from that of its mount namespace. Binding the same tree elsewhere makes such a root.
 */
export function createRootDropArgs(): string[] {
  const kept = keptCapabilities.map((name) => `+${name}`).join(',')
  return [
    ...['sh', '-c', `mount -n --rbind / ${CHROOT_PATH} && exec chroot ${CHROOT_PATH} "$@"`, 'sh'],
    ...['setpriv', '--no-new-privs', `--bounding-set=-all,${kept}`, '--inh-caps=-all', '--'],
  ]
}

/** Allows a user, who is root in the namespace, one more user namespace: that of `createUserMappingArgs`. */
const ONE_USER_NAMESPACE = 'echo 1 > /proc/sys/user/max_user_namespaces'

/** Returns the arguments before a command that give a user, who is root in the namespace, their own ids back. */
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
  // The relative name still works when a mount covers the path of the working directory.
  return `[ ! -e ${quoteWord(path)} ] || mount -n --no-canonicalize -o bind,ro ${EMPTY_FILE} ${quoteWord(path)}`
}

/** Returns the line that restores a home below a private directory. Descriptor 5 kept it open meanwhile. */
function createRestoreLine(path: string): string {
  return `mkdir -p ${quoteWord(path)} && mount -n --no-canonicalize --bind /proc/self/fd/5 ${quoteWord(path)} && exec 5<&-`
}
