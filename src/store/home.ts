import { VfsError } from '../vfs/index.ts'
import type { Engine } from './engine.ts'
import { diffFiles, type FileChange } from './files/diff-files.ts'
import { Files } from './files/files.ts'
import { type FsckReport, fsck } from './fsck.ts'
import type { NodeRef } from './tree/node.ts'
import { foldNodes, NodeCache } from './tree/node-cache.ts'
import { PageCodec } from './tree/page.ts'
import { type TreeValue, treeValues } from './tree/records.ts'
import { Tree } from './tree/tree.ts'
import { Blobs } from './vault/blobs.ts'
import { type Checkpoint, Checkpoints } from './vault/checkpoints.ts'
import { readContent } from './vault/content.ts'
import { Ids } from './vault/ids.ts'
import { MergeError, MergePlan, type OnConflict } from './vault/merge.ts'
import { settled } from './vault/settled.ts'
import { decodeHead, encodeHead, type Head, momentOf, VaultLog } from './vault/vault-log.ts'

const CACHED_NODES = 4096
const VAULT_NAME = /^[A-Za-z0-9][A-Za-z0-9_-]{0,63}$/

/** A home's vaults: each a tree of its own on pages they all share. */
export class StoreHome {
  readonly engine: Engine
  readonly cache: NodeCache<TreeValue>
  readonly #codec = new PageCodec(treeValues)
  readonly #ids: Ids
  readonly blobs: Blobs
  readonly #open = new Map<string, VaultLog>()

  constructor(engine: Engine) {
    this.engine = engine
    this.#ids = new Ids(engine)
    this.blobs = new Blobs(engine, this.#ids.next)
    this.cache = new NodeCache({
      codec: this.#codec,
      readPage: (id) => engine.readPage(id),
      capacity: CACHED_NODES,
    })
  }

  /** Makes an empty vault. EINVAL, EEXIST. */
  create(name: string): VaultLog {
    const files = new Files(new Tree(this.cache))
    const created = Date.now()
    files.format(momentOf(created, 0))
    return this.#record(name, (store) => ({ root: store(files.tree), created }))
  }

  /** A vault that starts as another is now, in constant time. */
  fork(source: string, name: string): VaultLog {
    const root = this.vault(source).fold()
    return this.#record(name, () => ({ root, created: Date.now(), from: { vault: source, root } }))
  }

  /** An existing vault. ENOENT. */
  vault(name: string): VaultLog {
    const open = this.#open.get(name)
    if (open !== undefined) return open
    const bytes = settled(this.engine.readRecord(keyOf(name)))
    if (bytes === undefined)
      throw new VfsError('ENOENT', name, { op: 'open', detail: `there is no vault '${name}'` })
    return this.#opened(name, decodeHead(bytes))
  }

  /** Takes a durable checkpoint of a vault: O(1), whatever it holds. EINVAL, EEXIST. */
  checkpoint(log: VaultLog, name?: string, description?: string): Checkpoint {
    const checkpoints = this.checkpoints(log)
    const root = log.fold(true)
    const time = Date.now()
    const about = description === undefined ? {} : { description }
    const checkpoint = {
      name: name ?? checkpoints.defaultName(time),
      root,
      seq: log.seq,
      time,
      ...about,
    }
    checkpoints.add(checkpoint)
    return checkpoint
  }

  checkpoints(log: VaultLog): Checkpoints {
    return new Checkpoints(this.engine, log.head.id)
  }

  /** The files of a stored tree, which never change. */
  filesAt(root: NodeRef<TreeValue>): Files {
    return new Files(new Tree(this.cache, root))
  }

  /** What changed from one tree to another, in time proportional to the changes. */
  diff(before: NodeRef<TreeValue>, after: NodeRef<TreeValue>): FileChange[] {
    const isSameValue = (one: TreeValue, other: TreeValue) => this.#codec.isSameValue(one, other)
    return diffFiles(this.cache, before, after, isSameValue, (old, oldNumber, now, newNumber) => {
      if (old.inode(oldNumber).size !== now.inode(newNumber).size) return false
      return isSameBytes(readContent(old, oldNumber, this.blobs), readContent(now, newNumber, this.blobs))
    })
  }

  /**
   * Brings what a fork changed into the vault it grew from, in one commit: O(changes of both).
   * `MergeError` with the conflicts if both changed the same; then nothing has changed.
   */
  async merge(source: string, target: string, onConflict: OnConflict): Promise<number> {
    const [fork, into] = [this.vault(source), this.vault(target)]
    const { from } = fork.head
    if (from === undefined || from.vault !== target) {
      throw new VfsError('EINVAL', source, {
        op: 'merge',
        detail: `'${source}' is not a fork of '${target}'`,
      })
    }
    const theirs = fork.fold()
    let merged = 0
    await into.submit((files) => {
      const ours = files.tree.snapshot()
      const plan = new MergePlan(
        {
          base: this.filesAt(from.root),
          ours: this.filesAt(ours),
          theirs: this.filesAt(theirs),
          ourChanges: this.diff(from.root, ours),
          theirChanges: this.diff(from.root, theirs),
          names: { ours: target, theirs: source },
        },
        this.blobs,
        onConflict,
      )
      if (plan.conflicts.length > 0) throw new MergeError(plan.conflicts)
      merged = plan.operations.length
      return { op: 'merge', path: '/', from: source, operations: plan.operations }
    })
    into.fold(true)
    return merged
  }

  /** Verifies everything that a vault or a checkpoint leads to, as it is stored. */
  fsck(): FsckReport {
    for (const log of this.#open.values()) log.fold()
    const heads = settled(this.engine.listRecords(keyOf(''))).map(({ bytes }) =>
      decodeHead(bytes ?? new Uint8Array(0)),
    )
    const kept = heads.flatMap(({ id }) => new Checkpoints(this.engine, id).list())
    return fsck(
      this.engine,
      this.#codec,
      [...heads, ...kept].map(({ root }) => root),
    )
  }

  /** The names of all vaults, in order. */
  names(): string[] {
    return settled(this.engine.listRecords(keyOf(''))).map(({ key }) => key.slice(keyOf('').length))
  }

  /** Folds every open vault and closes the engine. */
  async close(): Promise<void> {
    for (const log of this.#open.values()) log.fold()
    this.#open.clear()
    await this.engine.close()
  }

  #record(
    name: string,
    start: (store: (tree: Tree<TreeValue>) => number) => Omit<Head, 'id' | 'seq'>,
  ): VaultLog {
    assertVaultName(name)
    const pages: { id: number; bytes: Uint8Array }[] = []
    const store = (tree: Tree<TreeValue>) =>
      foldNodes(tree.snapshot(), this.#codec, this.#ids.next, (page) => pages.push(page))
    const head: Head = { id: this.#ids.next(), seq: 0, ...start(store) }
    const key = keyOf(name)
    const batch = {
      expect: [{ key, bytes: null }],
      records: [{ key, bytes: encodeHead(head) }],
      pages,
      durable: true,
    }
    if (!settled(this.engine.commit(batch))) {
      throw new VfsError('EEXIST', name, { op: 'create', detail: `there is a vault '${name}' already` })
    }
    return this.#opened(name, head)
  }

  #opened(name: string, head: Head): VaultLog {
    const parts = { engine: this.engine, cache: this.cache, codec: this.#codec, blobs: this.blobs }
    const log = new VaultLog({ ...parts, nextId: this.#ids.next, key: keyOf(name) }, head)
    this.#open.set(name, log)
    return log
  }
}

/** Both are cut alike, so equal content means equal chunks. */
function isSameBytes(one: Iterable<Uint8Array>, other: Iterable<Uint8Array>): boolean {
  const rest = other[Symbol.iterator]()
  for (const chunk of one) {
    const { value } = rest.next()
    if (value === undefined || Buffer.compare(chunk, value) !== 0) return false
  }
  return rest.next().done === true
}

function keyOf(name: string): string {
  return `vault/${name}`
}

function assertVaultName(name: string): void {
  if (VAULT_NAME.test(name)) return
  const detail = 'a vault name is 1 to 64 letters, digits, - or _, and starts with a letter or digit'
  throw new VfsError('EINVAL', name, { op: 'create', detail })
}
