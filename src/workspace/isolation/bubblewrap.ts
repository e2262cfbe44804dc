import { join } from 'node:path'
import { type CommandConfinement, EMPTY_FILE, type HiddenPath, isWithin } from './command-confinement.ts'
import { keptCapabilities, kernelSettings, privateDirectories } from './isolation-plan.ts'
import { createRootDropArgs } from './unshare-lines.ts'

/** One page, the smallest size a tmpfs can have. */
const MIN_TMPFS_BYTES = 4096

/** Returns the arguments that start a command under bubblewrap, up to the command itself. */
export function createBubblewrapArgs(confinement: CommandConfinement): string[] {
  const { workspace, limits, scratch } = confinement
  return [
    'bwrap',
    ...['--die-with-parent', '--unshare-ipc', '--unshare-pid', '--unshare-uts'],
    // Without a terminal of its own, the command must not keep that of the person: it could type into it.
    ...(confinement.hasTerminal ? [] : ['--new-session']),
    ...createIdentityArgs(confinement),
    ...['--ro-bind', '/', '/', '--dev', '/dev', '--proc', '/proc'],
    ...kernelSettings.flatMap((path) => ['--ro-bind-try', path, path]),
    ...privateDirectories.flatMap((path) => createTmpfsArgs(path, limits.scratchBytes)),
    ...['--remount-ro', '/dev'],
    ...confinement.visibleFiles.flatMap((path) => ['--ro-bind', path, path]),
    ...(scratch === undefined ? [] : ['--bind', scratch, scratch]),
    ...confinement.sockets.flatMap((path) => ['--bind', path, path]),
    ...confinement.hidden.filter(isAround).flatMap(({ path }) => createTmpfsArgs(path, MIN_TMPFS_BYTES)),
    ...[confinement.isReadonly ? '--ro-bind' : '--bind', workspace, workspace],
    ...confinement.hidden
      .filter((hidden) => !isAround(hidden))
      .flatMap((hidden) => createHideArgs(hidden, confinement.directory)),
    '--',
    ...(confinement.privilege === 'root' ? createRootDropArgs() : []),
  ]

  /**
   * True if the hidden directory contains the workspace. It stays writable, since the workspace is mounted inside it
   * later.
   */
  function isAround({ path }: HiddenPath): boolean {
    return isWithin(workspace, path)
  }
}

function createHideArgs({ path, isDirectory }: HiddenPath, directory: string): string[] {
  return isDirectory
    ? [...createTmpfsArgs(path, MIN_TMPFS_BYTES), '--remount-ro', path]
    : ['--ro-bind', join(directory, EMPTY_FILE), path]
}

/** Capabilities that root needs until the arguments of `createRootDropArgs` have dropped the others. */
const SETUP_CAPABILITIES: readonly string[] = ['sys_admin', 'sys_chroot', 'setpcap']

/**
 * Returns the arguments for the ids and capabilities of the command. Root stays root with few capabilities. A user, who
 * is root in the namespace, gets their own ids back.
 */
function createIdentityArgs({ privilege, user }: CommandConfinement): string[] {
  if (privilege === 'user') {
    const ids = ['--uid', String(user.uid), '--gid', String(user.gid)]
    return ['--unshare-user', '--disable-userns', ...ids]
  }
  return [
    '--cap-drop',
    'ALL',
    ...[...keptCapabilities, ...SETUP_CAPABILITIES].flatMap((name) => [
      '--cap-add',
      `CAP_${name.toUpperCase()}`,
    ]),
  ]
}

function createTmpfsArgs(path: string, bytes: number): string[] {
  return ['--size', String(bytes), '--tmpfs', path]
}
