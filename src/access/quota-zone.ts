import { type CallContext, type FileSystem, VfsError } from '../vfs/index.ts'
import { type Amount, addAmounts, measureAmount, NO_AMOUNT, subtractAmounts } from './amount.ts'

/** Limit of a path. Content that exceeds it already stays, but cannot grow. */
export interface PathQuota {
  readonly root: string
  /** Applies the limit to each directory in the root, not to the root: a quota for every home at once. */
  readonly each?: boolean
  readonly bytes?: number
  readonly files?: number
}

/** The call that reserves quota. */
export interface QuotaRequest {
  readonly op: string
  readonly path: string
  readonly ctx: CallContext | undefined
}

/** Lifetime of a count: other writers may change the same files. */
const COUNT_VALID_MS = 60_000
/** Maximum age of a count that refuses a change. */
const REFUSAL_VALID_MS = 1000

/** A path with a quota: the amount it contains, and the amount reserved by pending changes. */
export class QuotaZone {
  readonly root: string
  readonly #quota: PathQuota
  readonly #fs: FileSystem
  readonly #now: () => number
  #counting: Promise<void> | undefined
  #used: Amount = NO_AMOUNT
  #reserved: Amount = NO_AMOUNT
  #countedAt = Number.NEGATIVE_INFINITY
  #runningChanges = 0
  #finishedChanges = 0
  #invalidations = 0
  /** True if the count ran during changes, which it may or may not include. */
  #isUncertain = false

  constructor(root: string, quota: PathQuota, fs: FileSystem, now: () => number) {
    this.root = root
    this.#quota = quota
    this.#fs = fs
    this.#now = now
  }

  /** Begins a change, which lasts until `finishChange`. */
  beginChange(): void {
    this.#runningChanges++
  }

  /**
   * Reserves quota for a change, in place of what the same change has reserved so far. Throws ENOSPC beyond it, except
   * for the system.
   */
  async reserve(before: Amount, after: Amount, { op, path, ctx }: QuotaRequest): Promise<void> {
    const more = subtractAmounts(after, before)
    await this.#countIfStale(COUNT_VALID_MS, ctx)
    if (this.#explainExcess(more) !== undefined) await this.#countIfStale(REFUSAL_VALID_MS, ctx)
    const detail = this.#explainExcess(more)
    if (detail !== undefined && ctx?.caller?.kind !== 'system')
      throw new VfsError('ENOSPC', path, { op, detail })
    this.#reserved = addAmounts(this.#reserved, more)
  }

  /** Ends a change: releases its reservation and counts what it added. */
  finishChange(reserved: Amount, added: Amount): void {
    this.#reserved = subtractAmounts(this.#reserved, reserved)
    this.#used = addAmounts(this.#used, added)
    this.#finishedChanges++
    if (--this.#runningChanges > 0 || !this.#isUncertain) return
    this.#isUncertain = false
    this.invalidate()
  }

  /** Makes the next change count again, also if a count is running: it may have passed what has changed now. */
  invalidate(): void {
    this.#invalidations++
    this.#countedAt = Number.NEGATIVE_INFINITY
  }

  /** Returns the reason why this much more does not fit, or undefined. A change that shrinks always fits. */
  #explainExcess(more: Amount): string | undefined {
    const after = addAmounts(addAmounts(this.#used, this.#reserved), more)
    for (const unit of ['bytes', 'files'] as const) {
      const limit = this.#quota[unit]
      if (limit === undefined || more[unit] <= 0 || after[unit] <= limit) continue
      return `${this.root} would hold ${after[unit]} ${unit}, its quota is ${limit}; remove files there first`
    }
    return undefined
  }

  async #countIfStale(maxAge: number, ctx: CallContext | undefined): Promise<void> {
    if (this.#now() - this.#countedAt <= maxAge) return
    this.#counting ??= this.#recount(ctx).finally(() => {
      this.#counting = undefined
    })
    await this.#counting
  }

  async #recount(ctx: CallContext | undefined): Promise<void> {
    const [startedAt, finished, invalidations] = [this.#now(), this.#finishedChanges, this.#invalidations]
    this.#used = await measureAmount(this.#fs, this.root, ctx)
    if (this.#invalidations === invalidations) this.#countedAt = startedAt
    // The change that needs the count is running, and has changed nothing yet.
    this.#isUncertain = this.#runningChanges > 1 || this.#finishedChanges !== finished
  }
}
