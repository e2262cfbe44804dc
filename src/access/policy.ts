import type { Caller } from '../vfs/index.ts'

/**
 * Kind of use of a path by an operation.
 * - `read`: reads content, attributes, a link or the entries of a directory.
 * - `write`: creates an entry, or changes its content or attributes.
 * - `remove`: takes the entry away.
 *
 * An operation on two paths makes a request for each: `rename` is `remove` for the old path and `write` for the new one.
 */
export type Access = 'read' | 'write' | 'remove'

/** A question to a policy: may this caller use this path in this way? */
export interface AccessRequest {
  /** Undefined if the call names no caller. Treat it as an unknown caller without rights of its own, not as the system. */
  readonly caller: Caller | undefined
  readonly access: Access
  /** The requested operation, for messages: `write`, `rename`, `mkdir`. */
  readonly op: string
  /** Canonical path. If links lead elsewhere, the policy is asked about the requested path and about the resolved one. */
  readonly path: string
}

/** Null if the policy allows the request; otherwise the reason, with what the caller may do instead. */
export type Verdict = string | null

/** A rule that decides which caller may do what at which path, from the request alone. One denial is enough. */
export interface Policy {
  readonly name: string
  /** The requests that the policy wants to see: all, or only those that change something. Then reads cost nothing. */
  readonly judges: 'changes' | 'everything'
  /** Decides on one request. */
  judge(request: AccessRequest): Verdict
  /**
   * Reports whether a move or removal of the directory at `path` also needs a verdict on each entry below it. Without
   * this method, the verdict on the directory decides.
   */
  judgesContents?(path: string): boolean
}
