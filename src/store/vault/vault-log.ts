import { VfsError } from '../../vfs/index.ts'
import type { Answer, JournalRow, RecordRow } from '../engine.ts'
import { applyOperation } from '../files/apply.ts'
import { Files, type Moment } from '../files/files.ts'
import type { FileOperation, JournalEntry, Provenance } from '../files/operation.ts'
import { chain, type EngineReader } from '../reader.ts'
import type { NodeRef } from '../tree/node.ts'
import { countUnstored, type EncodedPage, foldNodes, type NodeCache, PageFault } from '../tree/node-cache.ts'
import type { PageCodec } from '../tree/page.ts'
import type { TreeValue } from '../tree/records.ts'
import { Tree } from '../tree/tree.ts'
import { type Blobs, blobsOf } from './blobs.ts'
import { decodeHead, encodeHead, type Head } from './head.ts'
import type { Ids } from './ids.ts'
import { decodeEntry, encodeEntry, Journal } from './journal.ts'
import { assertWithinQuota, type Quota, quotaKey } from './quota.ts'

const ROWS_AT_ONCE = 1000
/** How many operations may wait in the journal before they are folded into pages: what an open has to replay. */
const FOLD_AFTER = 2000

export interface VaultLogParts {
  readonly reader: EngineReader
  readonly cache: NodeCache<TreeValue>
  readonly codec: PageCodec<TreeValue>
  readonly blobs: Blobs
  readonly ids: Ids
  /** The record that holds the head. */
  readonly key: string
}

/** Decides on the current files what to do, if anything; asked again if somebody else committed first. */
export type Plan = (files: Files) => FileOperation | null

/** What is committed together with a fold. */
export interface FoldOptions {
  /** Survives power loss when it is done. */
  readonly durable?: boolean
  /** Throws if it cannot be done. */
  readonly check?: () => void
  /** New records that name the stored tree, with the row it includes. */
  readonly records?: (
    root: number,
    seq: number,
  ) => readonly { readonly key: string; readonly bytes: Uint8Array }[]
}

/** Something that waits to be committed. */
interface Pending extends Request {
  readonly time: number
  readonly entry: JournalEntry
}

interface Request {
  readonly plan: Plan
  readonly by: Provenance
  /** Records that must still be as they were when this was asked for. */
  readonly expect: readonly RecordRow[]
  readonly resolve: () => void
  readonly reject: (error: unknown) => void
}

/**
 * The one way a vault changes. An operation is applied to the tree in memory, appended to the journal together with
 * all others of the same moment, and acknowledged when that is committed; pages follow later, in batches.
 * Whoever loses a race takes in what the winner did and decides again.
 */
export class VaultLog {
  readonly #parts: VaultLogParts
  readonly #files: Files
  readonly #tree: Tree<TreeValue>
  #head: Head
  #seq: number
  /** The tree with everything that is committed, and nothing else. */
  #committed: NodeRef<TreeValue>
  #quota: Quota | undefined
  #pending: Pending[] = []
  #inFlight: readonly Pending[] = []
  #isRedoing = false
  /** A commit or fold that a remote engine has not answered yet. */
  #busy: Promise<void> | undefined
  #wasRefused = false
  #seenChanges = -1
  readonly #listeners = new Set<() => void>()

  constructor(parts: VaultLogParts, head: Head) {
    this.#parts = parts
    this.#head = head
    this.#seq = head.seq
    this.#tree = new Tree(parts.cache, head.root)
    this.#committed = head.root
    this.#files = new Files(this.#tree)
  }

  get head(): Head {
    return this.#head
  }

  /** The last journal row that is committed, as far as this process knows. */
  get seq(): number {
    return this.#seq
  }

  get journal(): Journal {
    return new Journal(this.#parts.reader, this.#head)
  }

  get quota(): Quota {
    this.read()
    return this.#quota ?? {}
  }

  /** The files as they are committed, by whichever process. They change with the vault: fork the tree to keep them. */
  read(): Files {
    if (this.#pending.length > 0 && this.#busy === undefined) this.flush()
    if (this.#busy !== undefined) return this.known()
    this.refresh()
    return this.#files
  }

  /** The files as this process knows them, without asking anybody. */
  known(): Files {
    return new Files(new Tree(this.#parts.cache, this.#committed))
  }

  /** Takes in what other processes have committed. ENOENT if they have deleted the vault. */
  refresh(): void {
    if (this.#pending.length > 0 || this.#busy !== undefined) return
    const changes = this.#parts.reader.changeCount()
    if (changes === this.#seenChanges) return
    this.#takeIn()
    this.#seenChanges = changes
  }

  /** Calls back after each commit this process makes or takes in, until the returned function is called. */
  subscribe(listener: () => void): () => void {
    this.#listeners.add(listener)
    return () => this.#listeners.delete(listener)
  }

  /** Does what the plan decides; resolves when it is committed, rejects when it cannot be done. */
  submit(plan: Plan, by: Provenance = {}, expect: readonly RecordRow[] = []): Promise<void> {
    return new Promise((resolve, reject) => {
      const request = { plan, by, expect, resolve, reject }
      try {
        const accepted = this.#parts.reader.resolve(() => this.#accept(request))
        if (accepted instanceof Promise) accepted.catch(reject)
      } catch (error) {
        reject(error)
      }
    })
  }

  /** The same, done when it returns. Only on a local engine. */
  submitNow(plan: Plan, by: Provenance = {}): void {
    const failures: unknown[] = []
    this.#accept({ plan, by, expect: [], resolve: () => {}, reject: (error) => failures.push(error) })
    const flushed = this.flush()
    if (flushed instanceof Promise) {
      throw new VfsError('ENOTSUP', '/', {
        detail: `the engine '${this.#parts.reader.engine.name}' is not local`,
      })
    }
    if (failures.length > 0) throw failures[0]
  }

  /** Commits everything that waits, and folds when the journal has grown long. */
  flush(): Answer<void> {
    if (this.#busy !== undefined) return this.#busy.then(() => this.flush())
    if (this.#pending.length === 0) return
    return chain(this.#commit(this.#pending), () => {
      if (this.#pending.length > 0) return this.flush()
      if (this.#seq - this.#head.seq >= FOLD_AFTER) return this.#foldQuietly()
    })
  }

  /** Stores the tree as pages and notes it in the head: from here an open, a fork and a checkpoint can start. */
  fold(options: FoldOptions = {}): Answer<number> {
    return chain(this.flush(), () => {
      const ready = this.#parts.reader.resolve(() => {
        this.refresh()
        options.check?.()
        this.#parts.ids.ensure(countUnstored(this.#tree.snapshot()))
      })
      // Somebody may have come in between while a remote engine was asked.
      return chain(ready, () => (this.#isIdle() ? this.#foldNow(options) : this.fold(options)))
    })
  }

  /** Forgets what it knows of the vault, so that the next look is at the store. */
  invalidate(): void {
    this.#seenChanges = -1
  }

  #isIdle(): boolean {
    return this.#busy === undefined && this.#pending.length === 0
  }

  #accept(request: Request): void {
    if (this.#isRedoing && this.#busy !== undefined) throw new PageFault(this.#busy)
    this.refresh()
    const time = Date.now()
    const entry = this.#perform(request.plan, request.by, time, this.#nextSeq())
    if (entry === null) {
      request.resolve()
      return
    }
    this.#pending.push({ ...request, time, entry })
    if (this.#pending.length === 1) queueMicrotask(() => this.flush())
  }

  #nextSeq(): number {
    return this.#seq + this.#inFlight.length + this.#pending.length + 1
  }

  #commit(waiting: readonly Pending[]): Answer<void> {
    const { reader, blobs } = this.#parts
    const root = this.#tree.snapshot()
    const staged = blobs.take()
    const journal = waiting.map(({ entry }, index) => this.#row(entry, this.#seq + index + 1))
    const expect = waiting.flatMap((one) => one.expect)
    this.#pending = []
    this.#inFlight = waiting
    const settle = (isAccepted: boolean) => {
      this.#inFlight = []
      this.#wasRefused = !isAccepted
      if (isAccepted) {
        blobs.stored(staged)
        return this.#acknowledge(waiting, root)
      }
      blobs.restage(staged)
      return this.#redo(waiting)
    }
    const fail = (error: unknown) => {
      this.#inFlight = []
      blobs.restage(staged)
      return this.#giveUp(waiting, error)
    }
    return this.#wait(
      () => reader.engine.commit({ journal, expect, ...blobsOf(staged, this.#wasRefused) }),
      settle,
      fail,
    )
  }

  #acknowledge(waiting: readonly Pending[], root: NodeRef<TreeValue>): void {
    this.#seq += waiting.length
    this.#committed = root
    for (const { resolve } of waiting) resolve()
    for (const listener of this.#listeners) listener()
  }

  /** Nothing of it is stored: the tree goes back, and everybody who waits is told. */
  #giveUp(waiting: readonly Pending[], error: unknown): Answer<void> {
    this.#seenChanges = -1
    this.#tree.reset(this.#committed)
    for (const { reject } of waiting) reject(error)
    if (this.#pending.length > 0) return this.#redo([])
  }

  /** Somebody else was first: takes in what they did, and decides everything that waits again. */
  #redo(waiting: readonly Pending[]): Answer<void> {
    this.#isRedoing = true
    const all = [...waiting, ...this.#pending]
    const giveUp = (error: unknown) => {
      this.#isRedoing = false
      this.#pending = []
      this.#seenChanges = -1
      for (const { reject } of all) reject(error)
    }
    try {
      const redone = this.#parts.reader.resolve(() => this.#performAgain(all))
      return redone instanceof Promise ? redone.catch(giveUp) : redone
    } catch (error) {
      return giveUp(error)
    }
  }

  #performAgain(all: readonly Pending[]): void {
    this.#tree.reset(this.#committed)
    this.#pending = []
    this.#takeIn()
    for (const one of all) this.#performOne(one)
    this.#isRedoing = false
  }

  #performOne(one: Pending): void {
    try {
      this.#assertExpected(one)
      const entry = this.#perform(one.plan, one.by, one.time, this.#nextSeq())
      if (entry === null) one.resolve()
      else this.#pending.push({ ...one, entry })
    } catch (error) {
      if (error instanceof PageFault) throw error
      one.reject(error)
    }
  }

  #assertExpected({ expect, entry }: Pending): void {
    const { op, path } = entry.operation
    for (const { key, bytes } of expect) {
      const found = this.#parts.reader.record(key)
      if (found !== undefined && bytes !== null && Buffer.compare(found, bytes) === 0) continue
      const detail = `'${key}' was changed or deleted meanwhile; try again`
      throw new VfsError('ECONFLICT', path, { op, detail })
    }
  }

  #foldNow(options: FoldOptions): Answer<number> {
    const { durable = false } = options
    const { codec, cache, ids, key, reader } = this.#parts
    const pages: EncodedPage[] = []
    const root = foldNodes(this.#tree.snapshot(), codec, ids.next, (page, node) => {
      pages.push(page)
      cache.keep(node)
    })
    const named = options.records?.(root, this.#seq) ?? []
    if (pages.length + named.length === 0 && this.#head.seq === this.#seq && !durable) return root
    const head = { ...this.#head, root, seq: this.#seq }
    const expect = [
      { key, bytes: encodeHead(this.#head) },
      ...named.map((row) => ({ key: row.key, bytes: null })),
    ]
    const settle = (isNewest: boolean) => {
      // Another process has folded first. Its pages stand for the same files, and only they are stored.
      if (!isNewest) return chain(this.#redo([]), () => this.fold(options))
      this.#head = head
      this.#committed = root
      if (this.#pending.length === 0) this.#tree.reset(root)
      return root
    }
    const fail = (error: unknown) => {
      // The nodes have ids now, but are not stored: back to the tree that is, and through the journal again.
      this.#committed = this.#head.root
      this.#seq = this.#head.seq
      this.#seenChanges = -1
      return chain(this.#redo([]), (): number => {
        throw error
      })
    }
    const records = [{ key, bytes: encodeHead(head) }, ...named]
    return this.#wait(() => reader.engine.commit({ expect, records, pages, durable }), settle, fail)
  }

  /** Everything is committed and acknowledged, in the journal: if this fails, the next flush folds again. */
  #foldQuietly(): Answer<void> {
    try {
      const folded = this.fold()
      if (folded instanceof Promise) return folded.then(undefined, () => {}).then(() => {})
    } catch {
      // As above.
    }
  }

  /** Goes on when a commit is answered; until then nobody else commits. */
  #wait<T>(
    commit: () => Answer<boolean>,
    settle: (isAccepted: boolean) => Answer<T>,
    fail: (error: unknown) => Answer<T>,
  ): Answer<T> {
    let answer: Answer<boolean>
    try {
      answer = commit()
    } catch (error) {
      return fail(error)
    }
    if (!(answer instanceof Promise)) return settle(answer)
    const { promise: free, resolve } = Promise.withResolvers<void>()
    this.#busy = free
    const release = () => {
      this.#busy = undefined
      resolve()
    }
    return answer.then(settle, fail).finally(release)
  }

  #perform(plan: Plan, by: Provenance, time: number, seq: number): JournalEntry | null {
    const { changes } = this.#tree
    const before = this.#parts.reader.isRemote ? this.#tree.snapshot() : undefined
    try {
      const operation = plan(this.#files)
      if (operation === null) return null
      const counters = this.#quota && this.#files.counters()
      const replaced = applyOperation(this.#files, operation, momentOf(time, seq))
      if (this.#quota && counters) assertWithinQuota(this.#quota, operation, counters, this.#files.counters())
      return { time, ...by, operation, ...(replaced !== null && { before: replaced }) }
    } catch (error) {
      // Nearly every refusal comes before the first change; the few others cost the batch a second pass.
      if (before !== undefined) this.#tree.reset(before)
      else if (this.#tree.changes !== changes) this.#applyPendingAgain()
      throw error
    }
  }

  #applyPendingAgain(): void {
    this.#tree.reset(this.#committed)
    for (const [index, { entry }] of this.#pending.entries()) {
      applyOperation(this.#files, entry.operation, momentOf(entry.time, this.#seq + index + 1))
    }
  }

  #takeIn(): void {
    this.#followHead()
    const { seq } = this
    while (this.#applyRows() === ROWS_AT_ONCE);
    if (this.#seq > seq) for (const listener of this.#listeners) listener()
  }

  /** Another process may have folded, and a garbage collection may take what its pages replaced: changes over to them. */
  #followHead(): void {
    const { reader, key } = this.#parts
    const bytes = reader.record(key)
    const head = bytes && decodeHead(bytes)
    if (head === undefined || head.id !== this.#head.id) {
      throw new VfsError('ENOENT', '/', {
        detail: `the vault '${key.slice(key.indexOf('/') + 1)}' was deleted`,
      })
    }
    const quota = reader.record(quotaKey(head.id))
    this.#quota = quota && JSON.parse(Buffer.from(quota).toString())
    if (head.root === this.#head.root) return
    this.#head = head
    this.#seq = head.seq
    this.#committed = head.root
    this.#tree.reset(head.root)
  }

  /** Applies some rows that others committed; returns how many. */
  #applyRows(): number {
    const rows = this.#parts.reader.rows(this.#head.id, this.#seq, ROWS_AT_ONCE)
    try {
      for (const row of rows) {
        const { operation, time } = decodeEntry(row.bytes)
        applyOperation(this.#files, operation, momentOf(time, row.seq))
        this.#seq = row.seq
        if (this.#parts.reader.isRemote) this.#committed = this.#tree.snapshot()
      }
      this.#committed = this.#tree.snapshot()
    } catch (error) {
      this.#tree.reset(this.#committed)
      if (!this.#parts.reader.isRemote) this.#seq = (rows[0]?.seq ?? this.#seq + 1) - 1
      throw error
    }
    return rows.length
  }

  #row(entry: JournalEntry, seq: number): JournalRow {
    return { vault: this.#head.id, seq, bytes: encodeEntry(entry) }
  }
}

export function momentOf(time: number, seq: number): Moment {
  const seconds = Math.floor(time / 1000)
  return { time: { seconds, nanos: Math.round((time - seconds * 1000) * 1e6) }, seq }
}
