import type { CallContext, VfsError } from '../../vfs/index.ts'
import type { Vault } from './vault.ts'

/** Author of shipped changes in the journal of the home. */
export type LeaseOptions = Pick<CallContext, 'caller' | 'trace'>

/** A vault that nobody else changes until it is released, with all faces of a local home. */
export interface Lease extends AsyncDisposable {
  /** The vault on this machine. */
  readonly vault: Vault
  /** Resolves with the reason if another machine takes the vault, because this one was silent for too long. */
  readonly lost: Promise<VfsError>
  /** Waits until everything that was changed is durable in the home. ECONFLICT if another machine has the vault. */
  flush(): Promise<void>
  /** Gives the vault back, after a flush. Idempotent. */
  release(): Promise<void>
}
