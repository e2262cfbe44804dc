import {
  encodeChecksummedJson,
  getVaultUsage,
  type Provenance,
  quotaKey,
  type StoreHome,
  type VaultLog,
  type VaultQuota,
  type VaultUsage,
} from '../../store/index.ts'
import { VfsError } from '../../vfs/index.ts'

/** The quota of a vault, and its usage. */
export class VaultLimits {
  readonly #home: StoreHome
  readonly #log: VaultLog

  constructor(home: StoreHome, log: VaultLog) {
    this.#home = home
    this.#log = log
  }

  /** Returns the limits; empty if there are none. */
  async get(): Promise<VaultQuota> {
    return this.#home.reader.run(() => this.#log.quota)
  }

  /** Replaces the limits. A vault that is over a limit keeps its files but cannot grow. EINVAL for an invalid limit. */
  async set(quota: VaultQuota, provenance: Provenance = {}): Promise<void> {
    for (const [name, limit] of Object.entries(quota)) {
      if (Number.isSafeInteger(limit) && limit >= 0) continue
      throw new VfsError('EINVAL', '/', {
        op: 'quota',
        detail: `${name} is ${limit}; pass an integer from 0`,
      })
    }
    const bytes = Object.keys(quota).length === 0 ? null : encodeChecksummedJson(quota)
    const records = [{ key: quotaKey(this.#log.head.id), bytes }]
    // The journal row makes other processes with the vault open reload the quota.
    await this.#log.submit(
      () => ({ op: 'quota', path: '/', ...quota }),
      provenance,
      () => ({ records }),
    )
    this.#log.invalidate()
    // Refresh now, because writes use the quota in memory.
    await this.#log.commitPending()
    await this.#home.reader.run(() => this.#log.refresh())
  }

  /** Returns the files and bytes of the vault, its own bytes and the shared ones. Reads the whole tree. */
  usage(): Promise<VaultUsage> {
    return getVaultUsage(this.#home, this.#log)
  }
}
