import { VfsError } from './error.ts'
import type { CallContext } from './file-system.ts'
import { checkPath, child, dirname } from './path.ts'

const MAX_HOPS = 40

/** Yields each path on the way and receives its link target, or null if it is not a link or missing. */
type LinkResolution = Generator<string, string, string | null>

/**
 * Resolves every symbolic link in a path as the kernel does: `..` leaves the directory that a link led into, and stays
 * at the root. Throws ELOOP after 40 links. A coroutine, so that one algorithm serves `resolveLinks` and
 * `resolveLinksSync`.
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
    if (++hops > MAX_HOPS) {
      const detail = `the path has more than ${MAX_HOPS} symbolic links; one of them may lead back to itself`
      throw new VfsError('ELOOP', path, { op, detail })
    }
    if (target.startsWith('/')) resolved = '/'
    for (const part of target.split('/').reverse()) rest.push(part)
  }
  return resolved
}

/** Throws EINVAL for a link target with a name that some backend could not store. */
export function assertLinkTarget(target: string): void {
  checkPath(target.startsWith('/') ? target : `/${target}`, 'symlink')
}

/** Throws ELOOP if a link was followed in a call with `links: 'refuse'`. The resolved path differs only then. */
export function assertLinkFree(
  path: string,
  resolved: string,
  op: string,
  ctx: CallContext | undefined,
): void {
  if (resolved === path || ctx?.links !== 'refuse') return
  throw new VfsError('ELOOP', path, {
    op,
    detail: 'the path leads through a symbolic link, and this call must not follow links; use the real path',
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

/** Resolves links in a file system with asynchronous lookups. */
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
