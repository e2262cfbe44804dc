import {
  type CallContext,
  child,
  type FileSystem,
  isLinkable,
  isVfsError,
  isWithin,
  refuseLinks,
  relativeTo,
  VfsError,
} from '../vfs/index.ts'
import type { Access, AccessRequest, Policy, Verdict } from './policy.ts'

/** Attempts to resolve a path on which another process keeps placing links, before the gate throws ELOOP. */
const MAX_ATTEMPTS = 8

/** A path an operation touches, and how. */
export interface PathAccess {
  readonly path: string
  readonly access: Access
  /** True if the operation follows the last name when it is a link. */
  readonly followLast: boolean
}

/** Describes an operation on the name itself, even if it is a link. */
export function createEntryAccess(path: string, access: Access): PathAccess {
  return { path, access, followLast: false }
}

/** Describes an operation on the target of a name. */
export function createTargetAccess(path: string, access: Access): PathAccess {
  return { path, access, followLast: true }
}

/** An operation to check. */
export interface GateRequest {
  readonly op: string
  readonly touches: readonly PathAccess[]
  readonly ctx: CallContext | undefined
  /** False if the operation cannot be retried: a stream of content can be read once. True when absent. */
  readonly isRepeatable?: boolean
  /** True if the operation itself throws ELOOP at a link, so that a path without links need not be resolved first. */
  readonly isLinkChecked?: boolean
}

/**
 * Checks every operation against the policies, both at the requested path and where links lead it.
 * The file system below gets the resolved path, or one that a read presumes to have no links, and throws ELOOP for any
 * that is left. So nobody can swap one in between.
 */
export class Gate {
  readonly #fs: FileSystem
  readonly #policies: readonly Policy[]
  readonly #readPolicies: readonly Policy[]

  constructor(fs: FileSystem, policies: readonly Policy[]) {
    this.#fs = fs
    this.#policies = policies
    this.#readPolicies = policies.filter(({ judges }) => judges === 'everything')
  }

  /** True if no check applies: the caller is the system, or no policy judges this kind of access. */
  isUnrestricted(access: Access, ctx: CallContext | undefined): boolean {
    if (ctx?.caller?.kind === 'system') return true
    return (access === 'read' ? this.#readPolicies : this.#policies).length === 0
  }

  /** Returns the verdict of the policies on one path. One denial is enough. Does not exempt the system. */
  evaluate(op: string, access: Access, path: string, ctx: CallContext | undefined): Verdict {
    const policies = access === 'read' ? this.#readPolicies : this.#policies
    return evaluatePolicies(policies, { caller: ctx?.caller, access, op, path })
  }

  /**
   * Runs an operation on its real paths if the policies allow both these and the requested ones. An unrestricted
   * operation runs on the requested paths. Throws EACCES if a policy denies it, ELOOP if the links on the way never
   * settle.
   */
  runIfAllowed<T>(
    request: GateRequest,
    run: (ctx: CallContext | undefined, ...paths: string[]) => T | Promise<T>,
  ): T | Promise<T> {
    const { touches, ctx } = request
    const needsNoCheck = touches.every(({ access }) => this.isUnrestricted(access, ctx))
    return needsNoCheck ? run(ctx, ...touches.map(({ path }) => path)) : this.#runChecked(request, run)
  }

  /**
   * Checks what a directory contains before all of it is moved or removed, for policies that require it. Throws EACCES
   * if one denies an entry.
   * @param touches real paths; the first is the one that exists now.
   */
  async assertContentsAllowed(
    op: string,
    touches: readonly PathAccess[],
    ctx: CallContext | undefined,
  ): Promise<void> {
    const [{ path: source } = { path: '/' }] = touches
    const relevant = this.#policies.filter(({ judgesContents }) =>
      touches.some(({ path }) => judgesContents?.(path) === true),
    )
    if (relevant.length === 0 || this.isUnrestricted('write', ctx)) return
    if ((await this.#fs.stat(source, ctx)).type !== 'directory') return
    for await (const entry of this.#fs.walk(source, { includeDirs: true }, ctx)) {
      const relative = entry.path.slice(source.length)
      for (const { path, access } of touches) {
        const inner = path + relative
        const reason = evaluatePolicies(relevant, { caller: ctx?.caller, access, op, path: inner })
        if (reason !== null)
          throw new VfsError('EACCES', path, { op, detail: `it contains '${inner}': ${reason}` })
      }
    }
  }

  async #runChecked<T>(
    { op, touches, ctx, isRepeatable = true, isLinkChecked = false }: GateRequest,
    run: (ctx: CallContext | undefined, ...paths: string[]) => T | Promise<T>,
  ): Promise<T> {
    for (const { path, access } of touches) this.#assertAllowed(op, access, path, path, ctx)
    const inner = refuseLinks(ctx)
    for (let attempt = isLinkChecked ? 0 : 1; ; attempt++) {
      ctx?.signal?.throwIfAborted()
      const real: string[] = []
      // Most paths have no link, and the first attempt saves them a look-up.
      for (const touch of touches) real.push(attempt === 0 ? touch.path : await this.#resolve(op, touch, ctx))
      try {
        return await run(inner, ...real)
      } catch (error) {
        const canRetry = isRepeatable && isVfsError(error, 'ELOOP')
        if (!canRetry || attempt === MAX_ATTEMPTS) throw withRequestedPath(error, real, touches)
      }
    }
  }

  /** Resolves a path and checks the result as well. */
  async #resolve(op: string, { path, access, followLast }: PathAccess, ctx?: CallContext): Promise<string> {
    if (!isLinkable(this.#fs)) return path
    const real = await this.#fs.realpath(path, { followLast }, ctx)
    if (real !== path) this.#assertAllowed(op, access, real, path, ctx)
    return real
  }

  #assertAllowed(op: string, access: Access, path: string, requested: string, ctx?: CallContext): void {
    const reason = this.evaluate(op, access, path, ctx)
    if (reason === null) return
    const detail = path === requested ? reason : `${reason} (the path leads to '${path}')`
    throw new VfsError('EACCES', requested, { op, detail })
  }
}

function evaluatePolicies(policies: readonly Policy[], request: AccessRequest): Verdict {
  for (const policy of policies) {
    const reason = policy.judge(request)
    if (reason !== null) return reason
  }
  return null
}

/** Returns an error with the requested path in place of the real one. Other errors stay as they are. */
export function withRequestedPath(
  error: unknown,
  real: readonly string[],
  touches: readonly PathAccess[],
): unknown {
  if (!isVfsError(error)) return error
  const index = real.findIndex((path) => isWithin(error.path, path))
  const [from, requested] = [real[index], touches[index]?.path]
  if (from === undefined || requested === undefined || from === requested) return error
  return VfsError.withPath(error, rebasePath(error.path, from, requested), error.mount)
}

/** Returns the path below `to` of what is at `path` below `from`. A path that is not below `from` stays. */
export function rebasePath(path: string, from: string, to: string): string {
  const relative = relativeTo(path, from)
  if (relative === null) return path
  return relative === '' ? to : child(to, relative)
}
