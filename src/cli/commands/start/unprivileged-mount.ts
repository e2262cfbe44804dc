import { accessSync, constants } from 'node:fs'
import { realpath, stat } from 'node:fs/promises'
import { delimiter, join } from 'node:path'
import { findFuseProblem, isErrno } from '../../../machine/index.ts'
import { CommandError } from '../../framework/errors.ts'

/** Variable with the mount point for the restarted program. */
const MOUNT_VARIABLE = 'COPPICE_MOUNTED_ON'

/** Source and target of a mount. */
export interface MountPlan {
  /** Source that `mount` and `df` show. */
  readonly source: string
  readonly directory: string
  readonly isReadOnly: boolean
  readonly allowsOthers?: boolean
}

/**
 * Returns the plan, with the device of a mount that exists already. Root needs none. For an ordinary user,
 * fusermount3 makes the mount, and this process then executes the same command again with the device. CommandError if
 * the directory or a program is missing, or if a mount of this user is on the directory.
 */
export async function prepareMount(plan: MountPlan): Promise<MountPlan & { readonly device?: number }> {
  const mountPoint = process.env[MOUNT_VARIABLE]
  // A mount without a server would block forever, so it is not inspected.
  if (mountPoint === undefined) await assertDirectory(plan.directory)
  const problem = mountPoint === undefined ? findFuseProblem() : undefined
  if (problem !== undefined) {
    const { reason, remedy } = problem
    throw new CommandError(`cannot mount: ${reason}; ${remedy}; coppice doctor shows the rest`)
  }
  if (process.getuid?.() === 0) return plan
  const { DEVICE_DESCRIPTOR, createFusermountCommand, listFuseMounts, sweepStaleMounts } = await import(
    '../../../fuse/index.ts'
  )
  if (mountPoint !== undefined) return { ...plan, directory: mountPoint, device: DEVICE_DESCRIPTOR }
  findProgram('fusermount3')
  await sweepStaleMounts()
  const directory = await realpath(plan.directory)
  const existingMount = listFuseMounts().find((mount) => mount.directory === directory)
  if (existingMount !== undefined) {
    const next = 'unmount it first, or choose another directory'
    throw new CommandError(`${existingMount.source} is mounted on ${directory} already; ${next}`)
  }
  const restartCommand = [process.execPath, ...process.execArgv, ...process.argv.slice(1)]
  const [file, ...args] = createFusermountCommand(directory, plan, restartCommand)
  if (process.execve === undefined) throw createMissingProgramError('Node 22.15 or newer')
  return process.execve(findProgram(file), [file, ...args], { ...process.env, [MOUNT_VARIABLE]: directory })
}

/** Throws CommandError if there is no directory. A stale mount fails with another code, and is removed later. */
async function assertDirectory(directory: string): Promise<void> {
  try {
    if ((await stat(directory)).isDirectory()) return
  } catch (error) {
    if (!isErrno(error, 'ENOENT')) return
  }
  throw new CommandError(`there is no directory ${directory}; create it with mkdir`)
}

function findProgram(program: string): string {
  const candidates = (process.env['PATH'] ?? '').split(delimiter).map((directory) => join(directory, program))
  const found = candidates.find((path) => isExecutable(path))
  if (found === undefined) throw createMissingProgramError(program)
  return found
}

function isExecutable(path: string): boolean {
  try {
    accessSync(path, constants.X_OK)
    return true
  } catch {
    return false
  }
}

function createMissingProgramError(missing: string): CommandError {
  return new CommandError(
    `mounting as an ordinary user needs fusermount3 (package fuse3) and python3, but ${missing} is missing; ` +
      'install it, run as root, or mount in a user namespace: unshare -Urm',
  )
}
