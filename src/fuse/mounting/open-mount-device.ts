import { realpath } from 'node:fs/promises'
import { VfsError } from '../../vfs/index.ts'
import { openDevice } from './mount-command.ts'
import { findOwnMount } from './mount-list.ts'
import { sweepStaleMounts } from './stale-mounts.ts'

/** Where something is mounted. */
export interface MountTarget {
  /** An existing directory of this machine. */
  readonly directory: string
  /** An open device that is mounted there already, as `fusermountCommand` hands over; its path is canonical then. */
  readonly device?: number
}

/** A device for a directory. What dead servers left is swept away first. EEXIST where something of ours is mounted. */
export async function openMountDevice({ directory, device }: MountTarget): Promise<{
  readonly fd: number
  readonly directory: string
  readonly isMounted: boolean
}> {
  // Whoever looked at a directory that is mounted and not served yet would wait for ever.
  if (device !== undefined) return { fd: device, directory, isMounted: true }
  await sweepStaleMounts()
  const real = await realpath(directory)
  const there = findOwnMount(real)
  if (there !== undefined) {
    const detail = `${there.source} is mounted on ${real} already; unmount it first, or take another directory`
    throw new VfsError('EEXIST', real, { op: 'mount', detail })
  }
  return { fd: openDevice(), directory: real, isMounted: false }
}
