import type { VaultLog } from './vault-log.ts'

/** How many logs stay open that nobody uses: the next caller finds them as they are. */
const MAX_RECENT_LOGS = 32

/**
 * The logs that this process has open, by the names of their vaults. It keeps those that were used last; of all others
 * it knows only while somebody has them. So a vault never has two logs, and a vault that nobody uses costs no memory.
 */
export class OpenLogs {
  /** The last used at the end. */
  readonly #recent = new Map<string, VaultLog>()
  readonly #open = new Map<string, WeakRef<VaultLog>>()
  readonly #collected = new FinalizationRegistry<string>((name) => {
    if (this.#open.get(name)?.deref() === undefined) this.#open.delete(name)
  })

  /** The log of a vault, if anybody has it open. */
  get(name: string): VaultLog | undefined {
    const log = this.#open.get(name)?.deref()
    if (log !== undefined) this.#markUsed(name, log)
    return log
  }

  set(name: string, log: VaultLog): void {
    this.#open.set(name, new WeakRef(log))
    this.#collected.register(log, name)
    this.#markUsed(name, log)
  }

  delete(name: string): void {
    this.#open.delete(name)
    this.#recent.delete(name)
  }

  clear(): void {
    this.#open.clear()
    this.#recent.clear()
  }

  /** All of them, as they are open now. */
  entries(): (readonly [name: string, log: VaultLog])[] {
    return [...this.#open].flatMap(([name, ref]) => {
      const log = ref.deref()
      return log === undefined ? [] : [[name, log] as const]
    })
  }

  #markUsed(name: string, log: VaultLog): void {
    this.#recent.delete(name)
    this.#recent.set(name, log)
    if (this.#recent.size <= MAX_RECENT_LOGS) return
    for (const [oldest, unused] of this.#recent) {
      this.#recent.delete(oldest)
      // Its rows are in the journal whether that succeeds or not; folded, the next open need not replay them.
      void unused.commitAndFlush()
      return
    }
  }
}
