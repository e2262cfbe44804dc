import { type CallContext, type FileSystem, VfsError } from '../vfs/index.ts'
import { type Amount, difference, measure, NOTHING, sum } from './amount.ts'

/** What a place may hold. What is over its limit already stays, but cannot grow. */
export interface Quota {
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
  readonly #quota: Quota
  readonly #fs: FileSystem
  readonly #now: () => number
  #counting: Promise<void> | undefined
  #used: Amount = NOTHING
  #held: Amount = NOTHING
  #countedAt = Number.NEGATIVE_INFINITY
  #running = 0
  #settled = 0
  /** Counted while changes were under way, which may be in the count or not. */
  #isUnsure = false

  constructor(root: string, quota: Quota, fs: FileSystem, now: () => number) {
    this.root = root
    this.#quota = quota
    this.#fs = fs
    this.#now = now
  }

  /** A change is under way until it is settled. */
  begin(): void {
    this.#running++
  }

  /** Takes room for what is about to be added, in place of what the same change has taken so far. ENOSPC. */
  async hold(before: Amount, after: Amount, { op, path, ctx }: Asker): Promise<void> {
    const more = difference(after, before)
    await this.#count(COUNT_VALID_MS, ctx)
    if (this.#excess(more) !== undefined) await this.#count(REFUSAL_VALID_MS, ctx)
    const detail = this.#excess(more)
    if (detail !== undefined && ctx?.caller?.kind !== 'system')
      throw new VfsError('ENOSPC', path, { op, detail })
    this.#held = sum(this.#held, more)
  }

  /** Ends a change: its room is given back, and what it really added is counted. */
  settle(held: Amount, added: Amount): void {
    this.#held = difference(this.#held, held)
    this.#used = sum(this.#used, added)
    this.#settled++
    if (--this.#running > 0 || !this.#isUnsure) return
    this.#isUnsure = false
    this.forget()
  }

  /** What it holds has to be counted again. */
  forget(): void {
    this.#countedAt = Number.NEGATIVE_INFINITY
  }

  /** Why there is no room for so much more; undefined if there is. To become smaller is always possible. */
  #excess(more: Amount): string | undefined {
    const after = sum(sum(this.#used, this.#held), more)
    for (const unit of ['bytes', 'files'] as const) {
      const limit = this.#quota[unit]
      if (limit === undefined || more[unit] <= 0 || after[unit] <= limit) continue
      return `${this.root} would hold ${after[unit]} ${unit}, its quota is ${limit}; remove files there first`
    }
    return undefined
  }

  async #count(maxAge: number, ctx: CallContext | undefined): Promise<void> {
    if (this.#now() - this.#countedAt <= maxAge) return
    this.#counting ??= this.#recount(ctx).finally(() => {
      this.#counting = undefined
    })
    await this.#counting
  }

  async #recount(ctx: CallContext | undefined): Promise<void> {
    const [startedAt, settled] = [this.#now(), this.#settled]
    this.#used = await measure(this.#fs, this.root, ctx)
    this.#countedAt = startedAt
    this.#isUnsure = this.#running > 1 || this.#settled !== settled
  }
}

/** On whose behalf room is taken. */
export interface Asker {
  readonly op: string
  readonly path: string
  readonly ctx: CallContext | undefined
}
