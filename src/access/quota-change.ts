import { type Amount, NOTHING } from './amount.ts'
import type { Asker, QuotaZone } from './quota-zone.ts'

/** A change under way, with the room it has taken in every place with a quota. Disposed of, it gives back what it did not use. */
export class QuotaChange implements AsyncDisposable {
  readonly #zones: readonly QuotaZone[]
  readonly #asker: Asker
  /** What each zone holds for it: as it takes room one zone after another, they may differ. */
  readonly #held = new Map<QuotaZone, Amount>()
  #added: Amount = NOTHING
  #isDone = false

  constructor(zones: readonly QuotaZone[], asker: Asker) {
    this.#zones = zones
    this.#asker = asker
    for (const zone of zones) zone.begin()
  }

  /** Takes room for so much in all, in place of what it has. ENOSPC. */
  async hold(amount: Amount): Promise<void> {
    // Room that the change will free is nobody's before it has succeeded.
    const needed = { bytes: Math.max(0, amount.bytes), files: Math.max(0, amount.files) }
    for (const zone of this.#zones) {
      await zone.hold(this.#held.get(zone) ?? NOTHING, needed, this.#asker)
      this.#held.set(zone, needed)
    }
    this.#added = amount
  }

  /** What it took room for is there now. */
  succeed(): void {
    this.#settle(this.#added)
  }

  async [Symbol.asyncDispose](): Promise<void> {
    this.#settle(NOTHING)
  }

  #settle(added: Amount): void {
    if (this.#isDone) return
    this.#isDone = true
    for (const zone of this.#zones) zone.settle(this.#held.get(zone) ?? NOTHING, added)
  }
}
