import type { TreeName } from './tree-ref.ts'

/** The home and its daemon. */
export interface WebStatus {
  readonly home: string
  readonly version: string
  readonly startedAt: string
  /** Number of running processes. */
  readonly running: number
  /** Position of the event stream when this was read: follow it with `after`, and nothing is missed. */
  readonly position: string
}

/** A process, running or ended. */
export interface WebProcess {
  readonly pid: number
  readonly parent: number
  readonly state: 'running' | 'paused' | 'stalled' | 'ended' | 'lost'
  readonly intent: string
  readonly agent: string | null
  readonly provider: string
  readonly model: string
  readonly startedAt: string
  readonly endedAt: string | null
  readonly elapsedMs: number
  readonly step: number
  readonly maxSteps: number
  readonly tokens: number
  /** Tokens that its context may have; null if there is no limit of its own. */
  readonly budget: number | null
  readonly exitCode: number | null
  /** Reason of its state, such as of a pause or its end. */
  readonly reason: string
  /** Its last result, shortened. */
  readonly result: string
  /** Its last action in one line, shortened. */
  readonly lastAction: string
  readonly questions: readonly WebQuestion[]
  /** The tree it works in; null without a workspace. */
  readonly tree: TreeName | null
  /** The tree that was forked for it. */
  readonly source: TreeName | null
}

/** Questions of a process that wait for an answer. */
export interface WebQuestion {
  readonly id: string
  readonly pid: number
  readonly questions: readonly {
    readonly question: string
    /** Choices; empty for a free answer. */
    readonly options: readonly string[]
    /** True if several options may be chosen. */
    readonly isMulti: boolean
  }[]
}

/** Address on this machine of a port that a program in a fork listens on. */
export interface WebForkPort {
  readonly port: number
  readonly url: string
  readonly address: string
}

/** A vault, a fork of a vault, a directory with forks, or one of its forks. Parents make a forest of them. */
export interface WebTree {
  readonly tree: TreeName
  readonly kind: 'vault' | 'fork' | 'directory'
  readonly name: string
  /** The tree it was forked from; null for a root. */
  readonly parent: TreeName | null
  /** Time of its last use or, for a vault, of its creation; null for a directory and for a fork that just started. */
  readonly time: string | null
  /** Changed files since it was forked; null for a root, or if there are too many to count. */
  readonly changes: number | null
  /** Last row of its journal; null for a directory. */
  readonly seq: number | null
  readonly checkpoints: number
  /** Commands that run in it. */
  readonly commands: readonly { readonly command: string; readonly since: string }[]
  /** Running processes that work in it. */
  readonly pids: readonly number[]
  readonly ports: readonly WebForkPort[]
  /** True for a fork whose apply, or a vault or fork whose merge, can be undone. */
  readonly canUndo: boolean
}

/** A merge that waits until its conflicts are resolved. */
export interface WebPendingMerge {
  readonly sources: readonly TreeName[]
  readonly into: TreeName
  /** Number of conflicts that have a resolution. */
  readonly resolved: number
}

/** Everything that waits for a person. */
export interface WebWaiting {
  /** Ids of requests that wait for an approval, the oldest first. */
  readonly approvals: readonly string[]
  readonly questions: readonly WebQuestion[]
  readonly merges: readonly WebPendingMerge[]
}
