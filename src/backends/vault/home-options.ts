import type { MergeOptions } from './merge-options.ts'

/** Options of `fork`. */
export interface ForkOptions {
  /** The checkpoint to start from. The current state when absent. */
  readonly at?: string
  /** Start from the state after this row of the journal instead. */
  readonly row?: number
  /** Start where this other fork of the source started, instead of at a checkpoint. EINVAL if it is no fork of it. */
  readonly baseOf?: string
  /** True for a fork of the current state that power loss may take, which needs no wait for the disk. */
  readonly isTemporary?: boolean
}

/** Two forks of a vault: the state to restore, and the last one that may be lost. */
export interface ForkRestore extends Pick<MergeOptions, 'caller' | 'trace'> {
  readonly before: string
  readonly after: string
  /** Name of the restored state in the journal. */
  readonly label: string
}

/** A summary of a vault, without reading its files. */
export interface VaultInfo {
  readonly name: string
  readonly created: Date
  /** The vault of this home that it was forked from, and the time of the forked state. */
  readonly from?: { readonly vault: string; readonly time: Date }
  readonly checkpoints: number
  /** Number of mutations in its own journal. */
  readonly changes: number
  readonly files: number
  readonly bytes: number
}
