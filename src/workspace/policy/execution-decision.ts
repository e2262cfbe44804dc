import type { Category } from './category.ts'

/** What may be done with a request, from the weakest to the strongest. */
export const policyActions = ['allow', 'allow_with_checkpoint', 'require_approval', 'deny'] as const

export type PolicyAction = (typeof policyActions)[number]

/** What policy says about a request. */
export interface ExecutionDecision {
  readonly action: PolicyAction
  /** Weakest first; `read_only` stands alone. */
  readonly categories: readonly Category[]
  /** Which part decided, and what to do about it. Absent where everything is simply allowed. */
  readonly reason?: string
  /** The deciding part, whole. Present where a person is to approve it and `reason` quotes only its beginning. */
  readonly part?: string
}

/** The stronger of two actions. */
export function getStronger(one: PolicyAction, other: PolicyAction): PolicyAction {
  return policyActions.indexOf(one) >= policyActions.indexOf(other) ? one : other
}
