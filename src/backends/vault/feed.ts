import { isDeepStrictEqual } from 'node:util'
import type { FileOperation, Journal, NumberedJournalEntry, StoreHome, VaultLog } from '../../store/index.ts'
import { type Caller, isWithin, VfsError } from '../../vfs/index.ts'
import { CommitSignal } from './commit-signal.ts'

/** One mutation of a vault. */
export interface JournalRecord {
  /** The sequence number in the vault's journal, from 1. */
  readonly seq: number
  readonly time: Date
  readonly op: FileOperation['op']
  readonly path: string
  /** The target of a rename. */
  readonly to?: string
  /** Every path that a merge or a batch changed. */
  readonly paths?: readonly string[]
  readonly caller?: Caller
  /** The tool call that made the change. */
  readonly trace?: string
}

/** Conditions that records of the journal must meet. */
export interface JournalFilter {
  /** Only records after this sequence number. */
  readonly since?: number
  /** Only this operation, also inside a merge or a batch. */
  readonly op?: FileOperation['op']
  /** Only records at or below this path. */
  readonly path?: string
  readonly caller?: Caller
  readonly newestFirst?: boolean
  /** Include the records from before the vault was forked. */
  readonly inherited?: boolean
}

/** A mutation in the feed, with the token to resume after it. */
export interface FeedItem extends JournalRecord {
  readonly token: string
}

/** Options of a vault's change feed. */
export interface FeedOptions {
  /** The token of the last item seen. Starts at the beginning when absent. */
  readonly since?: string
  /** Wait for new records until the signal aborts. */
  readonly follow?: boolean
  readonly signal?: AbortSignal
}

/** Yields the journal records that match a filter. */
export async function* listJournalRecords(
  { reader }: StoreHome,
  log: VaultLog,
  { since, newestFirst = false, inherited = false, ...filter }: JournalFilter,
): AsyncGenerator<JournalRecord> {
  await log.commitPending()
  await reader.run(() => log.refresh())
  const { journal } = log
  const first = Math.max(since ?? 0, inherited ? 0 : journal.start)
  const step = (seq: number) =>
    reader.run(() => (newestFirst ? journal.readBefore(seq) : journal.readAfter(seq)))
  for (let position = newestFirst ? log.seq + 1 : first; ; ) {
    const entries = await step(position)
    for (const entry of entries) {
      if (entry.seq <= first) return
      if (matchesFilter(entry, filter)) yield toRecord(entry, entry.operation)
    }
    const last = entries.at(-1)
    if (last === undefined) return
    position = last.seq
  }
}

/**
 * Yields the journal of a vault from a token on. A merge or a batch is yielded change by change. EINVAL for a token of
 * another vault, or if a garbage collection removed the records after it.
 */
export async function* openFeed(
  { reader }: StoreHome,
  log: VaultLog,
  { since, follow = false, signal }: FeedOptions,
): AsyncGenerator<FeedItem> {
  let [seq, part] = since === undefined ? [log.journal.start, 0] : parseToken(since, log.head.id)
  const commits = new CommitSignal(log, signal)
  try {
    await log.commitPending()
    for (;;) {
      signal?.throwIfAborted()
      await reader.run(() => log.refresh())
      const { journal }: { journal: Journal } = log
      const from = part > 0 ? seq - 1 : seq
      // Without news, a follower asks a remote engine for nothing.
      const entries = log.seq === from ? [] : await reader.run(() => journal.readAfter(from))
      assertNoGap(from, entries[0]?.seq)
      if (entries.length === 0) {
        if (!follow) return
        await commits.next()
      }
      for (const entry of entries) {
        yield* listItems(entry, log.head.id, entry.seq === seq ? part : 0)
        ;[seq, part] = [entry.seq, 0]
      }
    }
  } finally {
    commits.close()
  }
}

/** Yields the parts of an entry, without the first `seenParts`. */
function* listItems(entry: NumberedJournalEntry, vault: number, seenParts: number): Generator<FeedItem> {
  const steps = flattenOperation(entry.operation)
  for (const [index, step] of steps.entries()) {
    if (index < seenParts) continue
    const part = index === steps.length - 1 ? 0 : index + 1
    yield { token: formatToken(vault, entry.seq, part), ...toRecord(entry, step) }
  }
}

function matchesFilter(
  { operation, ...entry }: NumberedJournalEntry,
  { op, path, caller }: Pick<JournalFilter, 'op' | 'path' | 'caller'>,
): boolean {
  if (op !== undefined && op !== operation.op && !flattenOperation(operation).some((step) => step.op === op))
    return false
  if (caller !== undefined && !isDeepStrictEqual(caller, entry.caller)) return false
  return path === undefined || listPaths(operation).some((changedPath) => isWithin(changedPath, path))
}

function listPaths(operation: FileOperation): string[] {
  if (operation.op === 'merge' || operation.op === 'batch') return operation.operations.flatMap(listPaths)
  return 'to' in operation ? [operation.path, operation.to] : [operation.path]
}

function flattenOperation(operation: FileOperation): FileOperation[] {
  const isMany = (operation.op === 'merge' || operation.op === 'batch') && operation.operations.length > 0
  return isMany ? operation.operations.flatMap(flattenOperation) : [operation]
}

function toRecord(
  { seq, time, caller, trace }: NumberedJournalEntry,
  operation: FileOperation,
): JournalRecord {
  return {
    seq,
    time: new Date(time),
    op: operation.op,
    path: operation.path,
    ...('to' in operation && { to: operation.to }),
    ...('operations' in operation && { paths: [...new Set(listPaths(operation))] }),
    ...(caller !== undefined && { caller }),
    ...(trace !== undefined && { trace }),
  }
}

/** Throws EINVAL if rows after the token were pruned: the reader must start again rather than miss changes. */
function assertNoGap(from: number, next: number | undefined): void {
  if (next === undefined || next === from + 1) return
  const detail = 'a garbage collection removed the records after the token; start again without a token'
  throw new VfsError('EINVAL', '/', { op: 'changes', detail })
}

/** Formats a token: the vault, the row, and the number of its parts already seen, if not all. */
function formatToken(vault: number, seq: number, part: number): string {
  return part === 0 ? `${vault}.${seq}` : `${vault}.${seq}.${part}`
}

function parseToken(token: string, vault: number): [seq: number, part: number] {
  const [id, seq, part = 0] = /^\d+\.\d+(\.\d+)?$/.test(token) ? token.split('.').map(Number) : []
  if (id === vault && seq !== undefined) return [seq, part]
  const detail = `'${token}' is not a token of this vault's feed; start without a token`
  throw new VfsError('EINVAL', '/', { op: 'changes', detail })
}
