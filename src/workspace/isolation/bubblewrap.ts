import { join } from 'node:path'
import { type Confinement, EMPTY_FILE, type HiddenPlace, isWithin } from './confinement.ts'
import { rootDroppingWords } from './namespaced.ts'
import { keptCapabilities, kernelSettings, privateDirectories } from './plan.ts'

/** One page: there is no smaller size. */
const NOTHING = 4096

/** The words before a command that confine it with bubblewrap. */
export function bubblewrap(confinement: Confinement): string[] {
  const { workspace, plan, limits, scratch } = confinement
  return [
    'bwrap',
    ...['--die-with-parent', '--new-session', '--unshare-ipc', '--unshare-pid', '--unshare-uts'],
    ...(plan.network ? [] : ['--unshare-net']),
    ...identity(confinement),
    ...['--ro-bind', '/', '/', '--dev', '/dev', '--proc', '/proc'],
    ...kernelSettings.flatMap((path) => ['--ro-bind-try', path, path]),
    ...privateDirectories.flatMap((path) => inMemory(path, limits.scratchBytes)),
    ...['--remount-ro', '/dev'],
    ...confinement.shown.flatMap((path) => ['--ro-bind', path, path]),
    ...(scratch === undefined ? [] : ['--bind', scratch, scratch]),
    ...confinement.hidden.filter(isAround).flatMap(({ path }) => inMemory(path, NOTHING)),
    ...[confinement.isReadonly ? '--ro-bind' : '--bind', workspace, workspace],
    ...confinement.hidden
      .filter((place) => !isAround(place))
      .flatMap((place) => hide(place, confinement.directory)),
    '--',
    ...(confinement.privilege === 'root' ? rootDroppingWords() : []),
  ]

  /** The workspace is put back into such a place, which for that has to be there first, and open. */
  function isAround({ path }: HiddenPlace): boolean {
    return isWithin(workspace, path)
  }
}

function hide({ path, isDirectory }: HiddenPlace, directory: string): string[] {
  return isDirectory
    ? [...inMemory(path, NOTHING), '--remount-ro', path]
    : ['--ro-bind', join(directory, EMPTY_FILE), path]
}

/** Capabilities that root needs until `rootDroppingWords` have taken the others away. */
const settingUp: readonly string[] = ['sys_admin', 'sys_chroot', 'setpcap']

/** Root stays root with next to no capabilities; a user, who is root in the enclosure, becomes themself again. */
function identity({ privilege, user }: Confinement): string[] {
  if (privilege === 'user') {
    const ids = ['--uid', String(user.uid), '--gid', String(user.gid)]
    return ['--unshare-user', '--disable-userns', ...ids]
  }
  return [
    '--cap-drop',
    'ALL',
    ...[...keptCapabilities, ...settingUp].flatMap((name) => ['--cap-add', `CAP_${name.toUpperCase()}`]),
  ]
}

function inMemory(path: string, bytes: number): string[] {
  return ['--size', String(bytes), '--tmpfs', path]
}
