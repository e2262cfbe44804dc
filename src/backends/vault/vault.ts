import { type FileChange, type StoreHome, statOf, type VaultLog } from '../../store/index.ts'
import { type Change, type FileSystem, ReadOnlyFs, VfsError } from '../../vfs/index.ts'
import { VaultFs } from './vault-fs.ts'

/** A checkpoint as it is told: its name, when it was taken, and what was said of it. */
export interface CheckpointInfo {
  readonly name: string
  readonly time: Date
  readonly description?: string
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
