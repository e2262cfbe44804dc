import type { CallContext, FileSystem, PathChange } from '../../vfs/index.ts'
import type { TreeFiles } from './tree.ts'

/** A checkpoint of a vault. */
export interface LinkCheckpoint {
  readonly name: string
  readonly time: Date
  readonly description?: string
}

/** A vault as links use it. */
export interface LinkVault extends FileSystem {
  readonly name: string
  /** Returns the changes from another vault to this one. */
  diff(base?: { readonly vault: string }): AsyncIterable<PathChange>
  /** Takes a checkpoint of the current state, with a generated name if none is given. Throws EEXIST if it is taken. */
  checkpoint(name?: string, notes?: { readonly description?: string }): Promise<LinkCheckpoint>
  /** Deletes a checkpoint. Throws ENOENT if there is none. */
  removeCheckpoint(name: string): Promise<void>
  /** Restores the state of a checkpoint. Throws ENOENT if there is none. */
  restore(name: string, ctx?: CallContext): Promise<void>
}

/** Two forks of a vault: the state to restore, and the last one that may be lost. */
interface RestoredState extends Pick<CallContext, 'caller' | 'trace'> {
  readonly before: string
  readonly after: string
  /** Name of the restored state in the journal. */
  readonly label: string
}

/** Subset of a home that linked directories need: vaults to create, fork and delete, and their files by inode. */
export interface LinkHome {
  /** The home's directory; undefined if it is in memory. */
  readonly path: string | undefined
  vaults(): Promise<readonly string[]>
  vault(name: string): Promise<LinkVault>
  /** Returns the vault that a vault was forked from, if any. */
  info(name: string): Promise<{ readonly from?: { readonly vault: string } }>
  createVault(name: string): Promise<LinkVault>
  fork(
    source: string,
    name: string,
    options?: {
      /** Another fork of the source, at whose base the new one begins. */
      readonly baseOf?: string
      /** The checkpoint to fork from; the current state when absent. */
      readonly at?: string
      /** True for a fork that power loss may take. */
      readonly isTemporary?: boolean
    },
  ): Promise<LinkVault>
  deleteVault(name: string): Promise<void>
  /** Returns every path at which two vaults may differ. */
  listTouchedPaths(base: string, vault: string): Promise<readonly string[]>
  /**
   * Restores the state that a vault had when the fork `before` was made. Throws ECONFLICT if it changed after the fork
   * `after`.
   */
  restoreFork(vault: string, state: RestoredState): Promise<void>
  posix(name: string, options?: { readonly by?: Pick<CallContext, 'caller' | 'trace'> }): Promise<TreeFiles>
}

/** A fork of a linked directory. */
export interface LinkedFork {
  /** The vault with the changes. */
  readonly name: string
  /** The vault that mirrors the directory at the changed paths. */
  readonly mirror: string
  /** Time when a command last ran in it. */
  readonly used: Date
}
