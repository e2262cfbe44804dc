import { accessSync, constants, readFileSync, statSync } from 'node:fs'
import { isErrno } from './is-errno.ts'

const DEVICE = '/dev/fuse'

/** Reason why the device of FUSE mounts cannot be opened, and what to do. */
export interface FuseProblem {
  readonly reason: string
  readonly remedy: string
}

/** Returns why this user cannot open the device of FUSE mounts; undefined if they can. */
export function findFuseProblem(): FuseProblem | undefined {
  try {
    // fusermount3 opens it with the caller's rights, too.
    accessSync(DEVICE, constants.R_OK | constants.W_OK)
    return undefined
  } catch (error) {
    if (!isErrno(error, 'EACCES', 'EPERM'))
      return {
        reason: `there is no ${DEVICE}`,
        remedy: `on Linux: sudo modprobe fuse; in a container, pass --device ${DEVICE}`,
      }
    return { reason: `this user may not open ${DEVICE}`, remedy: createPermissionRemedy() }
  }
}

function createPermissionRemedy(): string {
  const { gid, mode } = statSync(DEVICE)
  const isForGroup = gid !== 0 && (mode & constants.S_IRGRP) !== 0 && (mode & constants.S_IWGRP) !== 0
  return isForGroup
    ? `join its group: sudo usermod -aG ${findGroupName(gid)} "$USER", then log in again`
    : `let users in: sudo chmod 666 ${DEVICE}`
}

function findGroupName(gid: number): string {
  const groups = readFileSync('/etc/group', 'utf8').split('\n')
  const [name = String(gid)] = groups.map((line) => line.split(':')).find(([, , id]) => id === `${gid}`) ?? []
  return name
}
