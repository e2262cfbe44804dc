import { isDeepStrictEqual } from 'node:util'
import {
  type FileChange,
  type FileOperation,
  type StoreHome,
  statOf,
  type VaultLog,
} from '../../store/index.ts'
import { type Caller, type Change, type FileSystem, isWithin, ReadOnlyFs, VfsError } from '../../vfs/index.ts'
import { VaultFs } from './vault-fs.ts'

/** A checkpoint as it is told: its name, when it was taken, and what was said of it. */
export interface CheckpointInfo {
  readonly name: string
  readonly time: Date
  readonly description?: string
}

/** One mutation of a vault. */
export interface JournalRecord {
  /** Its place in the vault's history, from 1. */
  readonly seq: number
  readonly time: Date
  readonly op: FileOperation['op']
  readonly path: string
  /** Where a rename led. */
  readonly to?: string
  readonly caller?: Caller
}

export interface JournalFilter {
  /** Only what came after this place. */
  readonly since?: number
  readonly op?: FileOperation['op']
  /** Only what happened at this path or below it. */
  readonly path?: string
  readonly caller?: Caller
}

/** A named tree that keeps its past: a file system that can be checkpointed, restored, compared and forked. */
export class Vault extends VaultFs {
  readonly name: string
  readonly #home: StoreHome
  readonly #log: VaultLog

  constructor(home: StoreHome, name: string, log: VaultLog) {
    super(log, home.blobs)
    this.#home = home
    this.name = name
    this.#log = log
  }

  /** Names the tree as it is now. O(1), and durable when it resolves. EINVAL, EEXIST. */
  async checkpoint(
    name?: string,
    { description }: { readonly description?: string } = {},
  ): Promise<CheckpointInfo> {
    return infoOf(this.#home.checkpoint(this.#log, name, description))
  }

  /** Every checkpoint, the oldest first. */
  checkpoints(): CheckpointInfo[] {
    return this.#home.checkpoints(this.#log).list().map(infoOf)
  }

  /** Forgets a checkpoint. ENOENT. */
  async removeCheckpoint(name: string): Promise<void> {
    this.#home.checkpoints(this.#log).remove(name)
  }

  /** Becomes what it was at a checkpoint. O(1), atomic, and itself part of the history. ENOENT. */
  async restore(name: string): Promise<void> {
    const { root } = this.#home.checkpoints(this.#log).get(name)
    await this.#log.submit(() => ({ op: 'restore', path: '/', root }))
    this.#log.fold(true)
  }

  /** The past at a checkpoint, as a file system that cannot be changed. ENOENT. */
  at(name: string): FileSystem {
    return this.#frozen(this.#home.checkpoints(this.#log).get(name).root)
  }

  /** What changed since a checkpoint, or since the vault was forked, sorted by path. O(changes). */
  async *diff(checkpoint?: string): AsyncGenerator<Change> {
    const before =
      checkpoint === undefined ? this.#start() : this.#home.checkpoints(this.#log).get(checkpoint).root
    for (const change of this.#home.diff(before, this.#log.fold())) yield changeOf(change)
  }

  /** Who did what, when: every mutation since a row, the oldest first, or only those the filter names. */
  async *journal({ since = 0, op, path, caller }: JournalFilter = {}): AsyncGenerator<JournalRecord> {
    for (const entry of this.#log.entries(since)) {
      const { seq, time, operation } = entry
      const places = operation.op === 'rename' ? [operation.path, operation.to] : [operation.path]
      if (op !== undefined && op !== operation.op) continue
      if (path !== undefined && !places.some((place) => isWithin(place, path))) continue
      if (caller !== undefined && !isDeepStrictEqual(caller, entry.caller)) continue
      const by = entry.caller === undefined ? {} : { caller: entry.caller }
      const to = operation.op === 'rename' ? { to: operation.to } : {}
      yield { seq, time: new Date(time), op: operation.op, path: operation.path, ...by, ...to }
    }
  }

  #start(): number {
    const { from } = this.#log.head
    if (from !== undefined) return from.root
    const detail = `'${this.name}' is not a fork; name a checkpoint to compare with`
    throw new VfsError('EINVAL', '/', { op: 'diff', detail })
  }

  #frozen(root: number): FileSystem {
    const source = { files: this.#home.filesAt(root), refresh: () => {}, submit: () => Promise.resolve() }
    return new ReadOnlyFs(new VaultFs(source, this.#home.blobs))
  }
}

function infoOf({
  name,
  time,
  description,
}: {
  name: string
  time: number
  description?: string
}): CheckpointInfo {
  return { name, time: new Date(time), ...(description !== undefined && { description }) }
}

function changeOf({ kind, path, from, before, after }: FileChange): Change {
  return {
    kind,
    path,
    ...(from !== undefined && { from }),
    ...(before !== undefined && { before: statOf(before) }),
    ...(after !== undefined && { after: statOf(after) }),
  }
}
