import { type Amount, NO_AMOUNT } from './amount.ts'
import type { QuotaRequest, QuotaZone } from './quota-zone.ts'

/** A pending change, with the quota it has reserved in every zone. Disposing of it without `complete` releases that. */
export class QuotaChange implements AsyncDisposable {
  readonly #zones: readonly QuotaZone[]
  readonly #request: QuotaRequest
  /** Amount reserved in each zone. They may differ, since zones are reserved one after another. */
  readonly #reserved = new Map<QuotaZone, Amount>()
  #added: Amount = NO_AMOUNT
  #isDone = false

  constructor(zones: readonly QuotaZone[], request: QuotaRequest) {
    this.#zones = zones
    this.#request = request
    for (const zone of zones) zone.beginChange()
  }

  /** Reserves this amount in total, in place of the earlier reservation. Throws ENOSPC beyond the quota. */
  async reserve(amount: Amount): Promise<void> {
    // What the change frees is not available before the change has succeeded.
    const needed = { bytes: Math.max(0, amount.bytes), files: Math.max(0, amount.files) }
    for (const zone of this.#zones) {
      await zone.reserve(this.#reserved.get(zone) ?? NO_AMOUNT, needed, this.#request)
      this.#reserved.set(zone, needed)
    }
    this.#added = amount
  }

  /** Marks the change as stored. */
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
