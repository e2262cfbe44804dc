import { type Amount, NO_AMOUNT } from './amount.ts'
import type { QuotaRequest, QuotaZone } from './quota-zone.ts'

/** A change under way, with the room it has taken in every place with a quota. Disposed of, it gives back what it did not use. */
export class QuotaChange implements AsyncDisposable {
  readonly #zones: readonly QuotaZone[]
  readonly #request: QuotaRequest
  /** What each zone holds for it: as it takes room one zone after another, they may differ. */
  readonly #reserved = new Map<QuotaZone, Amount>()
  #added: Amount = NO_AMOUNT
  #isDone = false

  constructor(zones: readonly QuotaZone[], asker: QuotaRequest) {
    this.#zones = zones
    this.#request = asker
    for (const zone of zones) zone.beginChange()
  }

  /** Takes room for so much in all, in place of what it has. ENOSPC. */
  async reserve(amount: Amount): Promise<void> {
    // Room that the change will free is nobody's before it has succeeded.
    const needed = { bytes: Math.max(0, amount.bytes), files: Math.max(0, amount.files) }
    for (const zone of this.#zones) {
      await zone.reserve(this.#reserved.get(zone) ?? NO_AMOUNT, needed, this.#request)
      this.#reserved.set(zone, needed)
    }
    this.#added = amount
  }

  /** What it took room for is there now. */
  complete(): void {
    this.#finish(this.#added)
  }

  async [Symbol.asyncDispose](): Promise<void> {
    this.#finish(NO_AMOUNT)
  }

  #finish(added: Amount): void {
    if (this.#isDone) return
    this.#isDone = true
    for (const zone of this.#zones) zone.finishChange(this.#reserved.get(zone) ?? NO_AMOUNT, added)
  }
}
