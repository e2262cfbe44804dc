import { randomBytes } from 'node:crypto'
import { isVfsError, VfsError } from '../vfs/index.ts'
import { encodeChecksummedJson } from './checksummed-json.ts'
import { commitOnce, isRecordStored } from './commit-once.ts'
import type { Batch, Engine, MaybePromise } from './engine.ts'
import { EngineReader } from './engine-reader.ts'
import {
  diffFiles,
  type FileChange,
  listChangedInodes,
  listChangedNames,
  type NameChange,
} from './files/diff-files.ts'
import { VaultFiles } from './files/vault-files.ts'
import type { StoreSession } from './sessions/store-session.ts'
import { flushNodes, NodeCache } from './tree/node-cache.ts'
import { PageCodec } from './tree/page-codec.ts'
import { Tree } from './tree/tree.ts'
import type { NodeRef } from './tree/tree-node.ts'
import { type TreeValue, treeValueCodec } from './tree/tree-values.ts'
import { BlobStore } from './vault/blob-store.ts'
import { type Checkpoint, Checkpoints, decodeCheckpoint } from './vault/checkpoints.ts'
import { isSameContent } from './vault/file-content.ts'
import { IdAllocator } from './vault/id-allocator.ts'
import { OpenLogs } from './vault/open-logs.ts'
import type { ExtraRecords } from './vault/pending-operation.ts'
import { toMoment } from './vault/replica.ts'
import {
  type Ancestor,
  decodeHead,
  encodeHead,
  type VaultHead,
  vaultKey,
  vaultPrefix,
} from './vault/vault-head.ts'
import { VaultLog } from './vault/vault-log.ts'
import { quotaKey } from './vault/vault-quota.ts'

const CACHED_PAGE_BYTES = 16 * 1024 * 1024
const VAULT_NAME_PATTERN = /^[A-Za-z0-9][A-Za-z0-9_-]{0,63}$/

/** The vaults of a home: each has its own tree on shared pages. */
export class StoreHome {
  readonly engine: Engine
  readonly reader: EngineReader
  readonly cache: NodeCache<TreeValue>
  readonly codec: PageCodec<TreeValue> = new PageCodec(treeValueCodec)
  readonly ids: IdAllocator
  readonly blobs: BlobStore
  readonly session: StoreSession
  readonly #openLogs = new OpenLogs()

  constructor(engine: Engine) {
    this.engine = engine
    this.reader = new EngineReader(engine)
    this.session = this.reader.session
    this.ids = new IdAllocator(this.reader)
    this.blobs = new BlobStore(this.reader, this.ids.next)
    this.cache = new NodeCache({
      codec: this.codec,
      readPage: (id) => this.reader.readPage(id),
      capacity: CACHED_PAGE_BYTES,
    })
  }

  /** Creates an empty vault. Throws EINVAL if the name is invalid, EEXIST if it is taken. */
  async createVault(name: string): Promise<VaultLog> {
    assertVaultName(name)
    const created = Date.now()
    const files = new VaultFiles(new Tree(this.cache))
    files.createRoot(toMoment(created, 0))
    // A fresh tree is a single page; with the vault's own number that makes two.
    await this.reader.run(() => this.ids.ensure(2))
    const pages: { id: number; bytes: Uint8Array }[] = []
    const root = flushNodes(files.tree.snapshot(), this.codec, this.ids.next, (page) => pages.push(page))
    const head: VaultHead = { id: this.ids.next(), root, seq: 0, created, lineage: [] }
    return this.#recordVault(name, head, { pages })
  }

  /**
   * Forks a vault as it is now, in constant time; durable when it resolves. Throws EINVAL if the name is invalid,
   * EEXIST if it is taken, ENOENT if the source is missing.
   */
  async fork(source: string, name: string): Promise<VaultLog> {
    assertVaultName(name)
    const log = await this.openVault(source)
    const id = await this.reader.run(() => this.ids.next())
    const quota = await this.#inheritQuota(log, id)
    const heads: VaultHead[] = []
    await log.flushPages({
      durable: true,
      check: () => {
        if (this.reader.readRecord(vaultKey(name)) !== undefined) throw createVaultExistsError(name)
      },
      records: ({ id: vault, root, seq }) => {
        const head = createForkHead(log.head, { vault: source, id: vault, root, seq, time: Date.now() }, id)
        heads.push(head)
        return [{ key: vaultKey(name), bytes: encodeHead(head) }, ...quota]
      },
    })
    const head = heads.at(-1)
    if (head === undefined) throw new Error('a successful flush has created its records')
    return this.#openLog(name, head)
  }

  /**
   * Forks a vault as it was at a checkpoint. Throws ENOENT if the vault or checkpoint is missing; for the name as
   * `fork` does.
   */
  async forkAt(source: string, checkpoint: string, name: string): Promise<VaultLog> {
    assertVaultName(name)
    const log = await this.openVault(source)
    const record = await this.reader.run(() => this.getCheckpoints(log).readRecord(checkpoint))
    const { root, seq, time } = decodeCheckpoint(record)
    const id = await this.reader.run(() => this.ids.next())
    const head = createForkHead(log.head, { vault: source, id: log.head.id, root, seq, time }, id)
    return this.#recordVault(name, head, { expect: [record], records: await this.#inheritQuota(log, id) })
  }

  /**
   * Forks a vault at the point where a sibling was forked. Throws ENOENT if the vault or sibling is missing; for the
   * name as `fork` does.
   */
  async forkFromSameBase(source: string, sibling: string, name: string): Promise<VaultLog> {
    assertVaultName(name)
    const log = await this.openVault(sibling)
    const [ancestor] = log.head.lineage
    if (ancestor?.vault !== source) {
      const detail = `'${sibling}' is not a fork of '${source}'`
      throw new VfsError('EINVAL', sibling, { op: 'fork', detail })
    }
    const { root, seq } = ancestor
    const id = await this.reader.run(() => this.ids.next())
    const head: VaultHead = { id, root, seq, created: Date.now(), lineage: log.head.lineage }
    return this.#recordVault(name, head, { records: await this.#inheritQuota(log, id) })
  }

  /** Checks a name before the tree is built. Throws EINVAL if it is invalid, EEXIST if it is taken. */
  async assertAdoptable(name: string, checkpoint?: Pick<Checkpoint, 'name'>): Promise<void> {
    assertVaultName(name)
    await this.reader.run(() => {
      if (this.reader.readRecord(vaultKey(name)) !== undefined) throw createVaultExistsError(name)
      // No vault has number 0: this only validates the name.
      if (checkpoint !== undefined) new Checkpoints(this.reader, 0).assertFree(checkpoint.name)
    })
  }

  /**
   * Creates a vault, and a checkpoint of it, from a stored tree that nothing refers to yet. Throws EINVAL if the name
   * is invalid, EEXIST if it is taken.
   */
  async adoptTree(
    name: string,
    root: number,
    checkpoint?: Pick<Checkpoint, 'name' | 'uid' | 'description' | 'meta'>,
    extraRecords: ExtraRecords = () => ({}),
  ): Promise<VaultLog> {
    await this.assertAdoptable(name, checkpoint)
    const time = Date.now()
    const id = await this.reader.run(() => this.ids.next())
    const head: VaultHead = { id, root, seq: 0, created: time, lineage: [] }
    const checkpoints = new Checkpoints(this.reader, id)
    const records =
      checkpoint === undefined ? [] : [checkpoints.toRecord({ ...checkpoint, root, seq: 0, time })]
    const { expect = [] } = await this.reader.run(extraRecords)
    return this.#recordVault(name, head, { expect, records })
  }

  /** Opens an existing vault. Throws ENOENT if there is none of this name. */
  async openVault(name: string): Promise<VaultLog> {
    const open = this.#openLogs.get(name)
    if (open !== undefined && (await this.#isCurrent(open))) return open
    if (open !== undefined && this.#openLogs.get(name) === open) this.#openLogs.delete(name)
    const bytes = await this.reader.run(() => this.reader.readRecord(vaultKey(name)))
    if (bytes === undefined) throw createMissingVaultError(name)
    // Another caller in this process may have opened it meanwhile: each vault has one log.
    const log = this.#openLogs.get(name) ?? this.#openLog(name, decodeHead(bytes))
    await this.reader.run(() => log.refresh())
    return log
  }

  /**
   * Deletes a vault and its checkpoints; its forks stay. The next collection frees its space. Throws ENOENT if there is
   * none of this name.
   */
  async deleteVault(name: string): Promise<void> {
    const log = await this.openVault(name)
    const { id } = log.head
    // A last row takes the next number: another process that has the vault open cannot write, and learns why.
    await log.submit(
      () => ({ op: 'delete', path: '/' }),
      {},
      () => {
        const checkpoints = this.reader.listRecords(`checkpoint/${id}/`).map(({ key }) => key)
        const gone = [vaultKey(name), quotaKey(id), `index/${id}`, ...checkpoints]
        const note = { key: `deleted/${id}`, bytes: Buffer.from(name) }
        return { records: [...gone.map((key) => ({ key, bytes: null })), note] }
      },
    )
    log.invalidate()
    this.#openLogs.delete(name)
  }

  /**
   * Takes a durable checkpoint of a vault: O(1), whatever it holds. Throws EINVAL if the name is invalid, EEXIST if
   * it is taken.
   */
  async createCheckpoint(
    log: VaultLog,
    name?: string,
    about: Partial<Pick<Checkpoint, 'description' | 'uid' | 'meta'>> = {},
  ): Promise<Checkpoint> {
    const checkpoints = this.getCheckpoints(log)
    const time = Date.now()
    let called = name ?? ''
    const uid = randomBytes(16).toString('hex')
    const taken: Checkpoint[] = []
    await log.flushPages({
      durable: true,
      isCheckpoint: true,
      check: () => {
        // Chosen at each attempt: if another process takes the name, the commit is refused and retried.
        if (name === undefined) called = checkpoints.createDefaultName(time)
        else checkpoints.assertFree(name)
      },
      records: ({ root, seq, checkpoints: order = 0 }) => {
        const checkpoint = { uid, ...about, name: called, root, seq, order, time }
        taken.push(checkpoint)
        return [checkpoints.toRecord(checkpoint)]
      },
    })
    const checkpoint = taken.at(-1)
    if (checkpoint === undefined) throw new Error('a successful flush has created its records')
    return checkpoint
  }

  getCheckpoints({ head }: VaultLog): Checkpoints {
    return new Checkpoints(this.reader, head.id)
  }

  /** Returns the checkpoints that its ancestors had when a vault was forked from them, the oldest first. */
  listInheritedCheckpoints({ head }: VaultLog): Checkpoint[] {
    return head.lineage
      .toReversed()
      .flatMap(({ id, seq }) =>
        new Checkpoints(this.reader, id).list().filter((checkpoint) => checkpoint.seq <= seq),
      )
  }

  /** Returns the files of a stored tree, which never change. */
  getFilesAt(root: NodeRef<TreeValue>): VaultFiles {
    return new VaultFiles(new Tree(this.cache, root))
  }

  /**
   * Lists the changes from one tree to another, in time proportional to the changes. Inodes from number `apartFrom`
   * on are unrelated: they were created after the trees diverged.
   */
  diff(before: NodeRef<TreeValue>, after: NodeRef<TreeValue>, apartFrom?: number): FileChange[] {
    const comparison = this.#createComparison(before, after)
    return diffFiles(apartFrom === undefined ? comparison : { ...comparison, apartFrom })
  }

  /** Lists every inode with any difference between two trees. */
  listChangedInodes(before: NodeRef<TreeValue>, after: NodeRef<TreeValue>): Set<number> {
    return listChangedInodes(this.#createComparison(before, after))
  }

  /** Lists every name that leads elsewhere in the second tree. */
  listChangedNames(before: NodeRef<TreeValue>, after: NodeRef<TreeValue>): NameChange[] {
    return listChangedNames(this.#createComparison(before, after))
  }

  /** Runs work on stored trees that records may stop naming meanwhile; the work holds each tree it finds. */
  async withHolds<T>(work: (hold: (root: number) => number) => Promise<T>): Promise<T> {
    await this.session.beginRead()
    const roots: number[] = []
    const held = { listStoredRoots: () => roots }
    const hold = this.session.hold(held)
    try {
      return await work((root) => {
        roots.push(root)
        // After long work the session is idle again, and collections do not query it.
        this.session.updateHolds(true)
        return root
      })
    } finally {
      hold.release()
    }
  }

  /** Returns the names of all vaults, in order. */
  listVaultNames(): MaybePromise<string[]> {
    return this.reader.run(() =>
      this.reader.listRecords(vaultPrefix).map(({ key }) => key.slice(vaultPrefix.length)),
    )
  }

  /** Flushes the pages of every vault this process has open: the stored trees are then complete. */
  async flushAllPages(): Promise<void> {
    for (const [name, log] of this.#openLogs.entries()) {
      try {
        await log.flushPages({ frees: true })
      } catch (error) {
        // Another process deleted the vault.
        if (!isVfsError(error, 'ENOENT')) throw error
        this.#openLogs.delete(name)
      }
    }
  }

  /**
   * Commits pending operations of every open vault and flushes their pages. A flush that fails, at a damaged page or
   * on a full disk, loses nothing: the journal has every row, unless it is gone.
   */
  async commitAndFlushAll(): Promise<void> {
    let areFlushed = true
    for (const [, log] of this.#openLogs.entries()) areFlushed = (await log.commitAndFlush()) && areFlushed
    if (!areFlushed) await this.engine.commit({})
  }

  /** Commits and flushes every open vault, then closes the engine. */
  async close(): Promise<void> {
    try {
      await this.commitAndFlushAll()
    } finally {
      this.#openLogs.clear()
      await this.session.close()
      await this.engine.close()
    }
  }

  /** Reports whether the log's vault still exists. Another process may have replaced it with one of the same name. */
  async #isCurrent(log: VaultLog): Promise<boolean> {
    try {
      await this.reader.run(() => log.refresh())
      return true
    } catch (error) {
      if (isVfsError(error, 'ENOENT')) return false
      throw error
    }
  }

  #createComparison(before: NodeRef<TreeValue>, after: NodeRef<TreeValue>): Parameters<typeof diffFiles>[0] {
    return {
      source: this.cache,
      before,
      after,
      isSameValue: (one, other) => this.codec.isSameValue(one, other),
      sameBytes: (old, oldNumber, current, newNumber) =>
        isSameContent(old, oldNumber, current, newNumber, this.blobs),
    }
  }

  /** Copies the quota to a fork: a fork may not hold more than its source. */
  async #inheritQuota(log: VaultLog, fork: number): Promise<{ key: string; bytes: Uint8Array }[]> {
    const quota = await this.reader.run(() => log.quota)
    if (Object.keys(quota).length === 0) return []
    return [{ key: quotaKey(fork), bytes: encodeChecksummedJson(quota) }]
  }

  /** Records a new vault, together with the rest of a batch. Throws EEXIST if the name is taken. */
  async #recordVault(
    name: string,
    head: VaultHead,
    { expect = [], records = [], pages = [] }: Batch,
  ): Promise<VaultLog> {
    const row = { key: vaultKey(name), bytes: encodeHead(head) }
    const batch = {
      expect: [{ key: row.key, bytes: null }, ...expect],
      records: [row, ...records],
      pages,
      durable: true,
    }
    const isNew = await commitOnce(this.reader, batch, () => isRecordStored(this.reader, row))
    if (!isNew) throw createVaultExistsError(name)
    return this.#openLog(name, head)
  }

  #openLog(name: string, head: VaultHead): VaultLog {
    const { reader, cache, codec, blobs, ids } = this
    const log = new VaultLog({ reader, cache, codec, blobs, ids, key: vaultKey(name) }, head)
    this.#openLogs.set(name, log)
    return log
  }
}

function createForkHead({ lineage }: VaultHead, ancestor: Ancestor, id: number): VaultHead {
  const { root, seq } = ancestor
  // An early checkpoint may precede some of the ancestors; they stay in the lineage.
  return { id, root, seq, created: Date.now(), lineage: [ancestor, ...lineage] }
}

function createMissingVaultError(name: string): VfsError {
  return new VfsError('ENOENT', name, { op: 'open', detail: `there is no vault '${name}'` })
}

function createVaultExistsError(name: string): VfsError {
  return new VfsError('EEXIST', name, { op: 'create', detail: `there is a vault '${name}' already` })
}

/** EINVAL for a name that no vault can have. */
export function assertVaultName(name: string): void {
  if (VAULT_NAME_PATTERN.test(name)) return
  const detail = 'a vault name is 1 to 64 letters, digits, - or _, and starts with a letter or digit'
  throw new VfsError('EINVAL', name, { op: 'create', detail })
}
