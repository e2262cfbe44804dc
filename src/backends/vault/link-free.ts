import type { Files, Plan } from '../../store/index.ts'
import { assertLinkFree, type CallContext, VfsError } from '../../vfs/index.ts'

/** The paths of a change, and whether it would go where their last names lead. */
export interface Route {
  readonly op: string
  readonly paths: readonly string[]
  readonly followLast: boolean
}

/** A path with its links followed. ELOOP if there are any and the call follows none. */
export function resolved(
  files: Files,
  path: string,
  followLast: boolean,
  op: string,
  ctx: CallContext | undefined,
): string {
  const real = files.resolve(path, followLast, op)
  assertLinkFree(path, real, op, ctx)
  return real
}

/** The inode a path leads to, or that of the link it ends in. ENOENT. */
export function numberAt(
  files: Files,
  path: string,
  followLast: boolean,
  op: string,
  ctx: CallContext | undefined,
): number {
  const number = files.find(resolved(files, path, followLast, op, ctx))
  if (number === undefined) throw new VfsError('ENOENT', path, { op })
  return number
}

/** A plan that fails with ELOOP if a link is on the way of a call that follows none: decided on the very files it changes. */
export function linkFree(plan: Plan, { op, paths, followLast }: Route, ctx: CallContext | undefined): Plan {
  if (ctx?.links !== 'refuse') return plan
  return (files) => {
    for (const path of paths) resolved(files, path, followLast, op, ctx)
    return plan(files)
  }
}
