import { realpath } from 'node:fs/promises'
import { VfsError } from '../../vfs/index.ts'
import { openDevice } from './mount-command.ts'
import { findFuseMount } from './mount-list.ts'
import { sweepStaleMounts } from './stale-mounts.ts'

/** Target of a mount. */
export interface MountTarget {
  /** An existing directory of this machine. */
  readonly directory: string
  /** Open device that `createFusermountCommand` has already mounted there; the path is canonical then. */
  readonly device?: number
}

/**
 * Opens a device for a directory, after removing stale mounts; returns the given device if there is one. ENOENT if the
 * directory does not exist, EEXIST if a FUSE mount of Coppice is there, EACCES or ENOTSUP if the device cannot be opened.
 */
export async function openMountDevice({ directory, device }: MountTarget): Promise<{
  readonly fd: number
  readonly directory: string
  readonly isMounted: boolean
}> {
  // Accessing a directory that is mounted but not served yet would block forever.
  if (device !== undefined) return { fd: device, directory, isMounted: true }
  await sweepStaleMounts()
  const real = await realpath(directory)
  const existing = findFuseMount(real)
  if (existing !== undefined) {
    const detail = `${existing.source} is already mounted on ${real}; unmount it first, or use another directory`
    throw new VfsError('EEXIST', real, { op: 'mount', detail })
  }
  return { fd: openDevice(), directory: real, isMounted: false }
}
