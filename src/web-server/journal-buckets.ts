import type { JournalRecord, Vault } from '../backends/vault/index.ts'
import type { JournalBucket, JournalBuckets, WebAuthor, WebJournalRow } from '../web-api/index.ts'
import { WebAuthors } from './web-author.ts'

const DEFAULT_COUNT = 200
const MAX_COUNT = 1000
const MAX_AUTHORS = 8

/** Rows of a journal to count, first and last included, and the number of buckets for them. */
export interface BucketRange {
  readonly from?: number
  readonly to?: number
  readonly count?: number
}

export function toJournalRow(row: JournalRecord, authors: WebAuthors): WebJournalRow {
  const { seq, time, op, path, to, paths } = row
  return {
    seq,
    time: time.toISOString(),
    op,
    path,
    ...(to !== undefined && { to }),
    paths: paths?.length ?? 1,
    author: authors.find(row, seq),
  }
}

/**
 * Divides a vault's journal into buckets for the slider of the page, each for the same number of rows, and counts the
 * rows of each author in them. The journal of the vault of which it is a fork does not count.
 */
export async function readJournalBuckets(vault: Vault, range: BucketRange): Promise<JournalBuckets> {
  const authors = await WebAuthors.read(vault)
  const first = await findFirstRow(vault)
  const last = await vault.getLastRow()
  if (first === undefined) return { first: 0, last: 0, buckets: [], checkpoints: [] }
  const [from, to] = [Math.max(first, range.from ?? first), Math.min(last, range.to ?? last)]
  const count = Math.min(Math.max(1, range.count ?? DEFAULT_COUNT), MAX_COUNT)
  const size = Math.max(1, Math.ceil((to - from + 1) / count))
  const buckets: BucketDraft[] = []
  for await (const row of vault.journal({ since: from - 1 })) {
    if (row.seq > to) break
    const index = Math.floor((row.seq - from) / size)
    buckets[index] ??= new BucketDraft()
    buckets[index].add(row, authors.find(row, row.seq))
  }
  const checkpoints: JournalBuckets['checkpoints'][number][] = []
  for (const { name, time, description = '' } of await vault.checkpoints()) {
    const seq = await vault.getCheckpointRow(name)
    checkpoints.push({ name, seq, time: time.toISOString(), description })
  }
  return { first, last, buckets: buckets.flatMap((draft) => draft.toBucket()), checkpoints }
}

async function findFirstRow(vault: Vault): Promise<number | undefined> {
  for await (const { seq } of vault.journal()) return seq
  return undefined
}

/** Collects the rows of one bucket. */
class BucketDraft {
  readonly #authors = new Map<string, { author: WebAuthor; rows: number }>()
  #first: JournalRecord | undefined
  #last: JournalRecord | undefined
  #rows = 0

  add(row: JournalRecord, author: WebAuthor): void {
    this.#first ??= row
    this.#last = row
    this.#rows++
    const key = `${author.kind} ${author.context} ${author.pid}`
    const counted = this.#authors.get(key)
    // Rows of one author in a bucket may have different traces.
    if (counted === undefined) this.#authors.set(key, { author: { ...author, trace: null }, rows: 1 })
    else counted.rows++
  }

  toBucket(): JournalBucket[] {
    const [first, last] = [this.#first, this.#last]
    if (first === undefined || last === undefined) return []
    const authors = [...this.#authors.values()].sort((one, other) => other.rows - one.rows)
    return [
      {
        from: first.seq,
        to: last.seq,
        fromTime: first.time.toISOString(),
        toTime: last.time.toISOString(),
        rows: this.#rows,
        authors: authors.slice(0, MAX_AUTHORS),
      },
    ]
  }
}
