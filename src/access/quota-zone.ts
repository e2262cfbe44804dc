import { type CallContext, type FileSystem, VfsError } from '../vfs/index.ts'
import { type Amount, addAmounts, measureAmount, NO_AMOUNT, subtractAmounts } from './amount.ts'

/** What a place may hold. What is over its limit already stays, but cannot grow. */
export interface PathQuota {
  readonly root: string
  /** The limit is of each directory in the root, not of the root: a quota for every home at once. */
  readonly each?: boolean
  readonly bytes?: number
  readonly files?: number
}

/** How long a count is believed: others may change the same files. */
const COUNT_VALID_MS = 60_000
/** How old a count may be that is the reason to refuse something. */
const REFUSAL_VALID_MS = 1000

/** One place with a quota: what it holds, and what is being added to it now. */
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
  /** Counted while changes were under way, which may be in the count or not. */
  #isUncertain = false

  constructor(root: string, quota: PathQuota, fs: FileSystem, now: () => number) {
    this.root = root
    this.#quota = quota
    this.#fs = fs
    this.#now = now
  }

  /** A change is under way until it is settled. */
  beginChange(): void {
    this.#runningChanges++
  }

  /** Takes room for what is about to be added, in place of what the same change has taken so far. ENOSPC. */
  async reserve(before: Amount, after: Amount, { op, path, ctx }: QuotaRequest): Promise<void> {
    const more = subtractAmounts(after, before)
    await this.#countIfStale(COUNT_VALID_MS, ctx)
    if (this.#explainExcess(more) !== undefined) await this.#countIfStale(REFUSAL_VALID_MS, ctx)
    const detail = this.#explainExcess(more)
    if (detail !== undefined && ctx?.caller?.kind !== 'system')
      throw new VfsError('ENOSPC', path, { op, detail })
    this.#reserved = addAmounts(this.#reserved, more)
  }

  /** Ends a change: its room is given back, and what it really added is counted. */
  finishChange(held: Amount, added: Amount): void {
    this.#reserved = subtractAmounts(this.#reserved, held)
    this.#used = addAmounts(this.#used, added)
    this.#finishedChanges++
    if (--this.#runningChanges > 0 || !this.#isUncertain) return
    this.#isUncertain = false
    this.invalidate()
  }

  /** What it holds has to be counted again. */
  invalidate(): void {
    this.#countedAt = Number.NEGATIVE_INFINITY
  }

  /** Why there is no room for so much more; undefined if there is. To become smaller is always possible. */
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
    const [startedAt, settled] = [this.#now(), this.#finishedChanges]
    this.#used = await measureAmount(this.#fs, this.root, ctx)
    this.#countedAt = startedAt
    this.#isUncertain = this.#runningChanges > 1 || this.#finishedChanges !== settled
  }
}

/** On whose behalf room is taken. */
export interface QuotaRequest {
  readonly op: string
  readonly path: string
  readonly ctx: CallContext | undefined
}
