import type { VaultLog } from './vault-log.ts'

/** Number of unused logs that stay open for the next caller. */
const MAX_RECENT_LOGS = 32

/**
 * The open logs of this process, by vault name. It keeps the most recently used; the others are weak references. So a
 * vault never has two logs, and an unused vault costs no memory.
 */
export class OpenLogs {
  /** Most recently used last. */
  readonly #recent = new Map<string, VaultLog>()
  readonly #logs = new Map<string, WeakRef<VaultLog>>()
  readonly #collected = new FinalizationRegistry<string>((name) => {
    if (this.#logs.get(name)?.deref() === undefined) this.#logs.delete(name)
  })

  /** Returns the open log of a vault, or undefined. */
  get(name: string): VaultLog | undefined {
    const log = this.#logs.get(name)?.deref()
    if (log !== undefined) this.#markUsed(name, log)
    return log
  }

  set(name: string, log: VaultLog): void {
    this.#logs.set(name, new WeakRef(log))
    this.#collected.register(log, name)
    this.#markUsed(name, log)
  }

  delete(name: string): void {
    this.#logs.delete(name)
    this.#recent.delete(name)
  }

  clear(): void {
    this.#logs.clear()
    this.#recent.clear()
  }

  /** Lists all open logs. */
  entries(): (readonly [name: string, log: VaultLog])[] {
    return [...this.#logs].flatMap(([name, ref]) => {
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
      // The journal has its rows either way; a flush saves the next open a replay.
      void unused.commitAndFlush()
      return
    }
  }
}
