import { VfsError } from './error.ts'
import type { CallContext } from './file-system.ts'
import { checkPath, child, dirname } from './path.ts'

const MAX_HOPS = 40

/** Asked of each path on the way: its link target, or null when it is not a link (or not there). */
type LinkResolution = Generator<string, string, string | null>

/**
 * The path that remains when every symbolic link along the way is followed, as the kernel would: `..` leaves the
 * directory a link led into, and stays at the root there. ELOOP after 40 links.
 * Written as a coroutine so that one algorithm serves `resolveLinks` and `resolveLinksSync`.
 */
function* resolveSteps(path: string, followLast: boolean, op: string): LinkResolution {
  const rest = path.split('/').reverse()
  let resolved = '/'
  let hops = 0
  for (let name = rest.pop(); name !== undefined; name = rest.pop()) {
    if (name === '' || name === '.') continue
    if (name === '..') {
      resolved = dirname(resolved)
      continue
    }
    const next = child(resolved, name)
    const target = rest.length > 0 || followLast ? yield next : null
    if (target === null) {
      resolved = next
      continue
    }
    if (++hops > MAX_HOPS) throw new VfsError('ELOOP', path, { op })
    if (target.startsWith('/')) resolved = '/'
    for (const part of target.split('/').reverse()) rest.push(part)
  }
  return resolved
}

/** EINVAL for a target with a name no backend could store: a link must not bring one in. */
export function assertLinkTarget(target: string): void {
  checkPath(target.startsWith('/') ? target : `/${target}`, 'symlink')
}

/** ELOOP if links were followed for a call that allows none. What is resolved differs from its path only then. */
export function assertLinkFree(
  path: string,
  resolved: string,
  op: string,
  ctx: CallContext | undefined,
): void {
  if (resolved === path || ctx?.links !== 'refuse') return
  throw new VfsError('ELOOP', path, {
    op,
    detail: 'a symbolic link is on the way, and the call follows none',
  })
}

/** Resolves links in a file system with synchronous lookups. */
export function resolveLinksSync(
  path: string,
  followLast: boolean,
  op: string,
  readlink: (path: string) => string | null,
): string {
  const steps = resolveSteps(path, followLast, op)
  let step = steps.next()
  while (!step.done) step = steps.next(readlink(step.value))
  return step.value
}

/** For one that has to ask. */
export async function resolveLinks(
  path: string,
  followLast: boolean,
  op: string,
  readlink: (path: string) => Promise<string | null>,
): Promise<string> {
  const steps = resolveSteps(path, followLast, op)
  let step = steps.next()
  while (!step.done) step = steps.next(await readlink(step.value))
  return step.value
}
