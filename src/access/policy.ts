import type { Caller } from '../vfs/index.ts'

/** Kind of access: reads a path, changes its content or entries, or removes it. */
export type Access = 'read' | 'write' | 'remove'

/** Request to a policy. The path is canonical and real: no link is left in it. */
export interface AccessRequest {
  /** Undefined for a call without a caller. */
  readonly caller: Caller | undefined
  readonly access: Access
  /** The requested operation: `write`, `rename`, `mkdir`. */
  readonly op: string
  readonly path: string
}

/** Null if the policy allows it; otherwise the reason, with what the caller may do instead. */
export type Verdict = string | null

/** A pure rule: which caller may do what at which path. One denial is enough. */
export interface Policy {
  readonly name: string
  /** `changes`: reads are not checked and cost nothing. */
  readonly judges: 'changes' | 'everything'
  judge(request: AccessRequest): Verdict
  /** True to check everything below a path before all of it is moved or removed. False when absent. */
  judgesContents?(path: string): boolean
}
