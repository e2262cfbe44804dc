import type { OperationPlan, VaultFiles } from '../../store/index.ts'
import { assertLinkFree, type CallContext, VfsError } from '../../vfs/index.ts'

/** The paths of a change, and whether it follows links in their last names. */
export interface ChangeRoute {
  readonly op: string
  readonly paths: readonly string[]
  readonly followLast: boolean
}

/** Resolves the links in a path. Throws ELOOP if there are any and the call refuses links. */
export function resolveFollowing(
  files: VaultFiles,
  path: string,
  followLast: boolean,
  op: string,
  ctx: CallContext | undefined,
): string {
  const real = files.resolveLinks(path, followLast, op)
  assertLinkFree(path, real, op, ctx)
  return real
}

/** Returns the inode of a path after its links are resolved; of a link itself unless `followLast`. ENOENT. */
export function resolveInode(
  files: VaultFiles,
  path: string,
  followLast: boolean,
  op: string,
  ctx: CallContext | undefined,
): number {
  const number = files.findByPath(resolveFollowing(files, path, followLast, op, ctx))
  if (number === undefined) throw new VfsError('ENOENT', path, { op })
  return number
}

/**
 * Wraps a plan to throw ELOOP if the path has a link and the call refuses links. Checked on the state that the plan
 * changes.
 */
export function withoutLinks(
  plan: OperationPlan,
  { op, paths, followLast }: ChangeRoute,
  ctx: CallContext | undefined,
): OperationPlan {
  if (ctx?.links !== 'refuse') return plan
  return (files) => {
    for (const path of paths) resolveFollowing(files, path, followLast, op, ctx)
    return plan(files)
  }
}
