import {
  type CallContext,
  type FileSystem,
  isLinkable,
  isVfsError,
  isWithin,
  refuseLinks,
  VfsError,
} from '../vfs/index.ts'
import type { Access, AccessRequest, Policy, Verdict } from './policy.ts'

/** How often a path is looked at again after somebody put a link on it. Whoever keeps doing so gets an error. */
const MAX_ATTEMPTS = 8

/** A path an operation touches, and how. */
export interface PathAccess {
  readonly path: string
  readonly access: Access
  /** Whether the operation would go where the last name leads, should it be a link. */
  readonly followLast: boolean
}

/** An operation on the name itself, be it a link. */
export function createEntryAccess(path: string, access: Access): PathAccess {
  return { path, access, followLast: false }
}

/** An operation on what the name leads to. */
export function createTargetAccess(path: string, access: Access): PathAccess {
  return { path, access, followLast: true }
}

/** An operation on its way through the gate. */
export interface GateRequest {
  readonly op: string
  readonly touches: readonly PathAccess[]
  readonly ctx: CallContext | undefined
  /** Whether it can be asked for again: a stream of content cannot, once it has begun. */
  readonly isRepeatable?: boolean
}

/**
 * Where every operation is judged. A path is judged as it was asked for and where links lead it; what is below is then
 * asked for the latter and follows no more links, so nobody can swap one in between.
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

  /** Whether there is nothing to judge: the system asks, or no policy cares about reads. */
  isUnrestricted(access: Access, ctx: CallContext | undefined): boolean {
    if (ctx?.caller?.kind === 'system') return true
    return (access === 'read' ? this.#readPolicies : this.#policies).length === 0
  }

  /** What the policies say of a real path. One denial is enough. */
  evaluate(op: string, access: Access, path: string, ctx: CallContext | undefined): Verdict {
    const policies = access === 'read' ? this.#readPolicies : this.#policies
    return evaluatePolicies(policies, { caller: ctx?.caller, access, op, path })
  }

  /** Runs an operation with its real paths, if it is allowed there. EACCES, ELOOP. */
  runIfAllowed<T>(
    passage: GateRequest,
    run: (ctx: CallContext | undefined, ...paths: string[]) => T | Promise<T>,
  ): T | Promise<T> {
    const { touches, ctx } = passage
    const isOpen = touches.every(({ access }) => this.isUnrestricted(access, ctx))
    return isOpen ? run(ctx, ...touches.map(({ path }) => path)) : this.#runChecked(passage, run)
  }

  /**
   * Judges what a directory holds, for policies that want to know, before all of it is moved or removed.
   * @param touches real paths; the first is what is there now. EACCES.
   */
  async assertContentsAllowed(
    op: string,
    touches: readonly PathAccess[],
    ctx: CallContext | undefined,
  ): Promise<void> {
    const [{ path: source } = { path: '/' }] = touches
    const concerned = this.#policies.filter(({ judgesContents }) =>
      touches.some(({ path }) => judgesContents?.(path) === true),
    )
    if (concerned.length === 0 || this.isUnrestricted('write', ctx)) return
    if ((await this.#fs.stat(source, ctx)).type !== 'directory') return
    for await (const entry of this.#fs.walk(source, { includeDirs: true }, ctx)) {
      const below = entry.path.slice(source.length)
      for (const { path, access } of touches) {
        const held = path + below
        const reason = evaluatePolicies(concerned, { caller: ctx?.caller, access, op, path: held })
        if (reason !== null)
          throw new VfsError('EACCES', path, { op, detail: `it holds '${held}': ${reason}` })
      }
    }
  }

  async #runChecked<T>(
    { op, touches, ctx, isRepeatable = true }: GateRequest,
    run: (ctx: CallContext | undefined, ...paths: string[]) => T | Promise<T>,
  ): Promise<T> {
    for (const { path, access } of touches) this.#assertAllowed(op, access, path, path, ctx)
    const inner = refuseLinks(ctx)
    for (let attempt = 1; ; attempt++) {
      ctx?.signal?.throwIfAborted()
      const real: string[] = []
      for (const touch of touches) real.push(await this.#resolve(op, touch, ctx))
      try {
        return await run(inner, ...real)
      } catch (error) {
        const isSwapped = isRepeatable && isVfsError(error, 'ELOOP')
        if (!isSwapped || attempt === MAX_ATTEMPTS) throw withRequestedPath(error, real, touches)
      }
    }
  }

  /** Where a touched path really is, judged there too. */
  async #resolve(op: string, { path, access, followLast }: PathAccess, ctx?: CallContext): Promise<string> {
    if (!isLinkable(this.#fs)) return path
    const real = await this.#fs.realpath(path, { followLast }, ctx)
    if (real !== path) this.#assertAllowed(op, access, real, path, ctx)
    return real
  }

  #assertAllowed(op: string, access: Access, path: string, asked: string, ctx?: CallContext): void {
    const reason = this.evaluate(op, access, path, ctx)
    if (reason === null) return
    const detail = path === asked ? reason : `${reason} (the path leads to '${path}')`
    throw new VfsError('EACCES', asked, { op, detail })
  }
}

function evaluatePolicies(policies: readonly Policy[], request: AccessRequest): Verdict {
  for (const policy of policies) {
    const reason = policy.judge(request)
    if (reason !== null) return reason
  }
  return null
}

/** A failure at a real path, told of the path that was asked for. */
function withRequestedPath(error: unknown, real: readonly string[], touches: readonly PathAccess[]): unknown {
  if (!isVfsError(error)) return error
  const index = real.findIndex((path) => isWithin(error.path, path))
  const [from, asked] = [real[index], touches[index]?.path]
  if (from === undefined || asked === undefined || from === asked) return error
  return new VfsError(error.code, asked + error.path.slice(from.length), {
    ...(error.op !== undefined && { op: error.op }),
    ...(error.mount !== undefined && { mount: error.mount }),
    ...(error.detail !== undefined && { detail: error.detail }),
    cause: error,
  })
}
