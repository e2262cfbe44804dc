import type { Caller } from '../vfs/index.ts'

/** What an operation does to a path: looks at it, changes its content or what it holds, or takes it away. */
export type Access = 'read' | 'write' | 'remove'

/** What a policy judges. The path is canonical and real: no link is left in it. */
export interface AccessRequest {
  /** Undefined where the call names nobody. */
  readonly caller: Caller | undefined
  readonly access: Access
  /** The operation as it was asked for: `write`, `rename`, `mkdir`. */
  readonly op: string
  readonly path: string
}

/** Null if there is nothing against it; otherwise the reason, which tells the caller what it may do instead. */
export type Verdict = string | null

/** A pure rule about who may do what where. One denial is enough. */
export interface Policy {
  readonly name: string
  /** `changes`: reads are never judged, so they cost nothing. */
  readonly judges: 'changes' | 'everything'
  judge(request: AccessRequest): Verdict
  /** Whether everything below a path is judged as well, before all of it is moved or removed. No when absent. */
  judgesContents?(path: string): boolean
}
