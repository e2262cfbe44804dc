import type { CallContext, FileSystem, PathChange } from '../../vfs/index.ts'
import type { CheckoutOptions } from '../checkout/index.ts'
import type { MaskContent } from '../link/index.ts'
import type { LiveBase, SessionBase, SessionChange, SessionKind } from '../session/index.ts'

/** Start of a command in a fork, for the process that goes on if this one is killed. */
export interface ForkStart {
  readonly fork: string
  /** The directory that it is a fork of. */
  readonly directory: string
  /** Vault with the fork as it was; absent if there was none. */
  readonly point?: string | undefined
  /** Paths at which that differs from the directory. A comparison finds more: its base may have got others since. */
  readonly paths: readonly string[]
  readonly keepsEmpty: boolean
  readonly isGenerated: boolean
}

/** Start of a command in a vault, for the process that goes on if this one is killed. */
export interface VaultStart {
  /** The vault that the command sees; it gets the changes unless they go into a new fork. */
  readonly vault: string
  /** The vault of a database of which `vault` is a copy on this machine. */
  readonly copyOf?: string | undefined
  readonly newFork?: NewVaultFork | undefined
  /** Vault with the files as the command found them. */
  readonly point: string
  /** Vault that the command changes itself; absent if its session keeps the changes. */
  readonly live?: string | undefined
  /** The fork that gets the changes, if the killed process has created it. */
  readonly created?: string | undefined
}

/** A fork of a vault that is created for changes: under this name, or the first free one of `stem-1`, `stem-2`…. */
export interface NewVaultFork {
  readonly name?: string | undefined
  /** The name of the vault when absent. */
  readonly stem?: string | undefined
}

/** Workspace of a request's commands, which also keeps their changes. */
export interface ExecutionWorkspace {
  /** Path on this machine, if it exists without a session: paths below it belong to the workspace. */
  readonly directory?: string
  /** Name of the fork that keeps the changes, if it is known before. */
  readonly forkName?: string | undefined
  /** Returns the base for a kind of session. Disposing it removes what it created. */
  baseline(kind: SessionKind, options?: CheckoutOptions): Promise<Baseline>
  /**
   * Takes a checkpoint before the command runs, and returns its name; null if the changes go into a fork that does
   * not exist yet. `collect` takes the checkpoint of that one.
   */
  checkpoint(): Promise<string | null>
  /** Returns how another process stores the changes if this one is killed; they are lost when absent. */
  describeStart?(): ForkStart | VaultStart | undefined
  /** Leaves the start of the session to the process that stores the changes later. */
  keepStart?(): void
  /** Reports whether a change can be kept; all can when absent. */
  canKeep?(change: SessionChange): boolean
  /**
   * Stores the session's changes, again after each command, and returns the changes of the last command. O(changes).
   */
  collect(collected: CollectedChanges): Promise<CommandChanges>
}

/** Changes of one command, with the trees before and after it, readable until disposed of. */
export interface CommandChanges extends AsyncDisposable {
  readonly changes: readonly PathChange[]
  readonly trees: { readonly before: FileSystem; readonly after: FileSystem } | undefined
  /** Checkpoint of the beginning of a new fork; null if none was wanted or made. */
  readonly checkpoint: string | null
  /** Changes of others that this command replaced; none when absent. */
  readonly overwritten?: OverwrittenChanges | undefined
}

/** Changes that others made while a command ran, in the same lines. The fork has those of the command. */
export interface OverwrittenChanges {
  readonly paths: readonly string[]
  /** Checkpoint of the fork with the changes of the others. */
  readonly checkpoint: string
}

/** The changes of a command that made none. */
export const NO_CHANGES: CommandChanges = {
  changes: [],
  trees: undefined,
  checkpoint: null,
  [Symbol.asyncDispose]: async () => {},
}

/** The base that a session starts from. */
export interface Baseline extends AsyncDisposable {
  readonly session: SessionBase | LiveBase
}

/** Session changes to keep: all so far. */
export interface CollectedChanges {
  readonly changes: readonly SessionChange[]
  /** Start of the session, in nanoseconds since the epoch. */
  readonly since: bigint
  /** Takes a checkpoint of a new fork before the changes enter it. */
  readonly isCheckpointWanted: boolean
  /** True if the session goes on: later changes are collected, too. */
  readonly continues?: boolean
  readonly by: Pick<CallContext, 'caller' | 'trace'>
  /** Masks files of the workspace as the session did. */
  readonly mask?: MaskContent | undefined
  /** Called when a fork has been created in a vault, before changes enter it. */
  readonly onCreated?: (() => void) | undefined
  /** Called once the changes are stored, with the fork that has them; undefined if there is none. */
  readonly onStored?: ((fork: string | undefined) => void) | undefined
}
