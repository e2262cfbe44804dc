import type { Category } from './category.ts'

/** Actions that policy can take on a request, from the weakest to the strongest. */
export const policyActions = ['allow', 'allow_with_checkpoint', 'require_approval', 'deny'] as const

export type PolicyAction = (typeof policyActions)[number]

/** Decision of policy about a request. */
export interface ExecutionDecision {
  readonly action: PolicyAction
  /** Weakest first; `read_only` stands alone. */
  readonly categories: readonly Category[]
  /** Names the deciding part and the remedy. Absent where everything is simply allowed. */
  readonly reason?: string
  /** Full text of the deciding part. Present where a person has to approve it and `reason` quotes only its start. */
  readonly part?: string
}

/** Returns the stronger of two actions. */
export function getStronger(one: PolicyAction, other: PolicyAction): PolicyAction {
  return policyActions.indexOf(one) >= policyActions.indexOf(other) ? one : other
}
