import {
  encodeChecksummedJson,
  getVaultUsage,
  quotaKey,
  type StoreHome,
  type VaultLog,
  type VaultQuota,
  type VaultUsage,
} from '../../store/index.ts'
import { VfsError } from '../../vfs/index.ts'

/** What a vault may hold, and what it holds. */
export class VaultLimits {
  readonly #home: StoreHome
  readonly #log: VaultLog

  constructor(home: StoreHome, log: VaultLog) {
    this.#home = home
    this.#log = log
  }

  /** The limits that apply; none when empty. */
  async get(): Promise<VaultQuota> {
    return this.#home.reader.run(() => this.#log.quota)
  }

  /** Replaces the limits. What is over them already stays, but cannot grow. EINVAL. */
  async set(quota: VaultQuota): Promise<void> {
    for (const [name, limit] of Object.entries(quota)) {
      if (Number.isSafeInteger(limit) && limit >= 0) continue
      throw new VfsError('EINVAL', '/', {
        op: 'quota',
        detail: `${name} must be a whole number from 0 on, not ${limit}`,
      })
    }
    const bytes = Object.keys(quota).length === 0 ? null : encodeChecksummedJson(quota)
    const records = [{ key: quotaKey(this.#log.head.id), bytes }]
    // A row in the journal makes whoever has the vault open look again.
    await this.#log.submit(
      () => ({ op: 'quota', path: '/', ...quota }),
      {},
      () => ({ records }),
    )
    this.#log.invalidate()
    // A write asks nobody first, so what applies has to be known here before the next one.
    await this.#log.commitPending()
    await this.#home.reader.run(() => this.#log.refresh())
  }

  /** Files and bytes it holds; the bytes stored for it alone, and those it shares. Reads the whole tree. */
  usage(): Promise<VaultUsage> {
    return getVaultUsage(this.#home, this.#log)
  }
}
