import type { OperationPlan, VaultFiles } from '../../store/index.ts'
import { assertLinkFree, type CallContext, VfsError } from '../../vfs/index.ts'

/** The paths of a change, and whether it would go where their last names lead. */
export interface ChangeRoute {
  readonly op: string
  readonly paths: readonly string[]
  readonly followLast: boolean
}

/** A path with its links followed. ELOOP if there are any and the call follows none. */
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

/** The inode a path leads to, or that of the link it ends in. ENOENT. */
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

/** A plan that fails with ELOOP if a link is on the way of a call that follows none: decided on the very files it changes. */
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
