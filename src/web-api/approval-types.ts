import type { TreeName } from './tree-ref.ts'
import type { WebText } from './web-text.ts'

/** A request that policy holds back, or held back. */
export interface WebApproval {
  readonly id: string
  readonly state: 'waits' | 'approved' | 'denied'
  /** The exact command: a line for the shell, or its arguments. Secrets are taken out. */
  readonly command: { readonly shell: string } | { readonly argv: readonly string[] }
  readonly cwd: string
  /** The vault, or the path of the directory. */
  readonly vault: string
  /** The fork in which it is to run; null for a new one. */
  readonly fork: string | null
  readonly network: boolean
  readonly hosts: readonly string[]
  /** The reason of policy, and the part of the command that led to it. */
  readonly reason: string
  readonly part: string | null
  readonly categories: readonly string[]
  readonly env: Readonly<Record<string, string>>
  readonly passedEnv: readonly string[]
  readonly stdin: WebText | null
  readonly isolation: string
  readonly askedAt: string
  readonly decidedAt: string | null
  /** Scopes that this request can be approved for. Only hosts are approved for longer than one run. */
  readonly scopes: readonly ApprovalScope[]
  /** True if `tryApproval` can show its changes beforehand. */
  readonly canTry: boolean
}

export type ApprovalScope = 'once' | 'fork' | 'project'

export type ApprovalDecision =
  | {
      readonly id: string
      readonly decision: 'approve'
      readonly scope: ApprovalScope
      /** End of an approval for a fork or project; without one, it does not end. */
      readonly expiresMinutes?: number
    }
  | { readonly id: string; readonly decision: 'deny' }

/** A command that ran in a throw-away fork without network. Its trees can be compared until `expiresAt`. */
export interface WebTrial {
  readonly id: string
  readonly exitCode: number | null
  readonly isTimedOut: boolean
  readonly durationMs: number
  readonly stdout: WebText
  readonly stderr: WebText
  /** Number of changed paths. */
  readonly changes: number
  /** Trees before and after, for `listChanges` and `getFileDiff`; null if nothing changed. */
  readonly from: TreeName | null
  readonly to: TreeName | null
  readonly expiresAt: string
  /** Differences between the trial and the real run, such as missing network or values that are taken out. */
  readonly limits: readonly string[]
}

/** A host that a person allowed for a fork or project. */
export interface WebGrant {
  readonly id: string
  readonly host: string
  readonly vault: string
  readonly fork: string | null
  readonly grantedAt: string
  readonly expiresAt: string | null
}

/** Connections of a command to one target. */
export interface WebConnection {
  readonly host: string
  readonly port: number
  readonly decision: 'allowed' | 'refused' | 'failed'
  readonly reason: string
  readonly connections: number
  readonly sent: number
  readonly received: number
}

/** A command of the journal: its decision and outcome. */
export interface WebCommand {
  readonly id: string
  readonly time: string
  readonly event: 'requested' | 'refused' | 'failed' | 'completed'
  readonly vault: string
  readonly command: string
  readonly decision: string
  readonly reason: string
  readonly exitCode: number | null
  readonly durationMs: number | null
  /** Number of changed files. */
  readonly changed: number
  readonly connections: readonly WebConnection[]
  /** Id of the approval that it waits for. */
  readonly approval: string | null
}
