import { setTimeout } from 'node:timers/promises'
import { RunningForks } from '../../boundary/index.ts'
import { isVfsError } from '../../vfs/index.ts'

const POLL_MS = 20
const MOUNT_COMMAND = 'coppice mount'

/** Formats the command that mounts a fork, as `coppice forks` shows it. */
export function formatMountCommand(fork: string, directory: string): string {
  return `${MOUNT_COMMAND} ${fork} ${directory}`
}

/** Reports whether `formatMountCommand` made a command. */
export function isMountCommand(command: string): boolean {
  return command.startsWith(`${MOUNT_COMMAND} `)
}

/** Returns the directory of a command that `formatMountCommand` made. */
export function getMountDirectory(fork: string, command: string): string {
  return command.slice(formatMountCommand(fork, '').length)
}

/** Unmounts a fork, even if it is in use, and waits until it has the changes. Does nothing if it is not mounted. */
export async function unmountFork(home: string, directory: string): Promise<void> {
  const { forceUnmount, listCoppiceMounts, unmount } = await import('../../fuse/index.ts')
  if (listCoppiceMounts().some((mount) => mount.directory === directory)) {
    try {
      await unmount(directory)
    } catch (error) {
      if (!isVfsError(error, 'EUNAVAILABLE')) throw error
      forceUnmount(directory)
    }
  }
  await waitForForkMount(home, directory)
}

/** Waits until the process that mounted a fork on a directory has stored the changes in the fork. AbortError. */
export async function waitForForkMount(home: string, directory: string, signal?: AbortSignal): Promise<void> {
  const isStoring = () =>
    RunningForks.of(home)
      .list()
      .some(({ fork, command }) => command === formatMountCommand(fork, directory))
  while (isStoring()) await setTimeout(POLL_MS, undefined, { signal })
}
