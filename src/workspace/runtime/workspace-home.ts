import type { HomeLocation } from '../../fuse/index.ts'
import type { CallContext } from '../../vfs/index.ts'
import type { CheckoutHome } from '../checkout/index.ts'
import type { LinkHome, LinkVault } from '../link/index.ts'

/** Subset of a home that a vault as a workspace needs, in addition to that of a linked directory. */
export interface WorkspaceHome extends LinkHome, CheckoutHome {
  /** Describes a vault. `changes` counts those in its own journal, so none of the vault that it was forked from. */
  info(vault: string): Promise<Awaited<ReturnType<CheckoutHome['info']>> & { readonly changes: number }>
  /** Location with which another process opens it; undefined if none can. */
  readonly place: HomeLocation | undefined
  vaults(): Promise<readonly string[]>
  vault(name: string): Promise<LimitedVault>
  fork: LinkHome['fork']
  posix: LinkHome['posix']
  deleteVault(name: string): Promise<void>
  /** Stores everything acknowledged so far, also what a killed process has in no vault yet. */
  sync(): Promise<void>
  /** Merges the changes of one vault into another; ECONFLICT if both changed the same and `onConflict` is `fail`. */
  merge(source: string, target: string, options: MergeOptions): Promise<unknown>
  /** Copies a vault of a database to this machine; undefined if it is on this machine. */
  openMachineCopy(vault: string): Promise<VaultCopy | undefined>
}

/** A vault of a database, copied to this machine. */
interface VaultCopy extends AsyncDisposable {
  readonly vault: string
  /** Moves a fork of the copy to the database. */
  publishFork(fork: string): Promise<void>
  /** Merges the copy into the vault. */
  merge(by?: Pick<CallContext, 'caller' | 'trace'>): Promise<void>
}

/** A vault whose size can be limited. */
interface LimitedVault extends LinkVault {
  readonly quota: {
    get(): Promise<{ readonly bytes?: number; readonly files?: number }>
    set(quota: { readonly bytes?: number; readonly files?: number }): Promise<void>
  }
}

interface MergeOptions extends Pick<CallContext, 'caller' | 'trace'> {
  readonly onConflict: 'theirs' | 'fail'
}
