import { isVfsError, VfsError } from '../vfs/index.ts'
import { commitOnce, isRecordStored } from './commit-once.ts'
import type { Batch, Engine, MaybePromise } from './engine.ts'
import { EngineReader } from './engine-reader.ts'
import { VaultFiles } from './files/vault-files.ts'
import { chain } from './maybe-promise.ts'
import type { StoreSession } from './sessions/store-session.ts'
import { StoredTrees } from './stored-trees.ts'
import { flushNodes, NodeCache } from './tree/node-cache.ts'
import { PageCodec } from './tree/page-codec.ts'
import { Tree } from './tree/tree.ts'
import { type TreeValue, treeValueCodec } from './tree/tree-values.ts'
import { BlobStore } from './vault/blob-store.ts'
import { Checkpoints } from './vault/checkpoints.ts'
import { createDeletionRecord } from './vault/deletion-record.ts'
import { IdAllocator } from './vault/id-allocator.ts'
import { listLandmarks } from './vault/landmarks.ts'
import { OpenLogs } from './vault/open-logs.ts'
import { toMoment } from './vault/replica.ts'
import { decodeHead, encodeHead, type VaultHead, vaultKey, vaultPrefix } from './vault/vault-head.ts'
import { VaultLog } from './vault/vault-log.ts'
import { quotaKey } from './vault/vault-quota.ts'
import { assertVaultName, createMissingVaultError, createVaultExistsError } from './vault-name.ts'

const CACHED_PAGE_BYTES = 16 * 1024 * 1024

/** The vaults of a home: each has its own tree on shared pages. */
export class StoreHome {
  readonly reader: EngineReader
  readonly cache: NodeCache<TreeValue>
  readonly codec: PageCodec<TreeValue> = new PageCodec(treeValueCodec)
  readonly ids: IdAllocator
  readonly blobs: BlobStore
  readonly session: StoreSession
  readonly trees: StoredTrees
  readonly #openLogs = new OpenLogs()

  constructor(engine: Engine) {
    this.reader = new EngineReader(engine)
    this.session = this.reader.session
    this.ids = new IdAllocator(this.reader)
    this.blobs = new BlobStore(this.reader, this.ids.next)
    this.cache = new NodeCache({
      codec: this.codec,
      readPage: (id) => this.reader.readPage(id),
      readsAhead: this.reader.readsAhead,
      capacity: CACHED_PAGE_BYTES,
    })
    this.trees = new StoredTrees(this)
  }

  /** The engine; once the home is closed, one that refuses every call. */
  get engine(): Engine {
    return this.reader.engine
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
    return this.recordVault(name, head, { pages })
  }

  /** Opens an existing vault. Throws ENOENT if there is none of this name. */
  async openVault(name: string): Promise<VaultLog> {
    const opened = this.#openLogs.get(name)
    if (opened !== undefined && (await this.#isCurrent(opened))) return opened
    if (opened !== undefined && this.#openLogs.get(name) === opened) this.#openLogs.delete(name)
    const bytes = await this.reader.run(() => this.reader.readRecord(vaultKey(name)))
    if (bytes === undefined) throw createMissingVaultError(name)
    // Another caller in this process may have opened it meanwhile: each vault has one log.
    const log = this.#openLogs.get(name) ?? this.openLog(name, decodeHead(bytes))
    this.cache.readAhead([log.head.root])
    await this.reader.run(() => log.refresh())
    this.cache.readAheadBelow(log.head.root)
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
        const landmarks = listLandmarks(this.reader, id).map(({ key }) => key)
        const deletedKeys = [vaultKey(name), quotaKey(id), `index/${id}`, ...checkpoints, ...landmarks]
        const deletion = createDeletionRecord(id, name)
        return { records: [...deletedKeys.map((key) => ({ key, bytes: null })), deletion] }
      },
    )
    log.invalidate()
    this.#openLogs.delete(name)
  }

  /** Returns the checkpoints of an open vault. */
  getCheckpoints({ head }: VaultLog): Checkpoints {
    return new Checkpoints(this.reader, head.id)
  }

  hasVault(name: string): MaybePromise<boolean> {
    return this.reader.run(() => this.reader.readRecord(vaultKey(name)) !== undefined)
  }

  /** Returns the names of all vaults, in order. */
  listVaultNames(): MaybePromise<string[]> {
    return this.reader.run(() =>
      this.reader.listRecords(vaultPrefix).map(({ key }) => key.slice(vaultPrefix.length)),
    )
  }

  /**
   * Returns a number that changes with commits of other processes, and with rows of this one. Cheap enough to ask
   * often.
   */
  getChangeCount(): MaybePromise<number> {
    // An engine need not count the commits of its own process, which the logs know.
    const own = this.#openLogs.entries().reduce((sum, [, log]) => sum + log.seq, 0)
    return chain(this.engine.changeCount(), (count) => count + own)
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
   * on a full disk, loses nothing: the journal has every row. EIO if the store itself was removed meanwhile.
   */
  async commitAndFlushAll(): Promise<void> {
    let areFlushed = true
    for (const [, log] of this.#openLogs.entries()) areFlushed = (await log.commitAndFlush()) && areFlushed
    // Fails if the store is gone, and the journal with it.
    if (!areFlushed) await this.engine.commit({})
  }

  /** Commits and flushes every open vault, then closes the engine. Operations after that throw EBADF. */
  async close(): Promise<void> {
    try {
      await this.commitAndFlushAll()
    } finally {
      this.#openLogs.clear()
      await this.session.close()
      const { engine } = this
      this.reader.close()
      await engine.close()
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

  /**
   * Records a new vault, together with the rest of a batch. Throws EEXIST if the name is taken, ECONFLICT if another
   * expectation of the batch does not hold any more.
   */
  async recordVault(
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
    if (isNew) return this.openLog(name, head)
    if (expect.length === 0 || (await this.hasVault(name))) throw createVaultExistsError(name)
    const detail = 'another process changed what the vault was made from; try again'
    throw new VfsError('ECONFLICT', name, { op: 'create', detail })
  }

  /** Opens the log of a vault that was just read or recorded. */
  openLog(name: string, head: VaultHead): VaultLog {
    const { reader, cache, codec, blobs, ids } = this
    const log = new VaultLog({ reader, cache, codec, blobs, ids, key: vaultKey(name) }, head)
    this.#openLogs.set(name, log)
    return log
  }
}
