import { randomBytes } from 'node:crypto'
import { isVfsError, VfsError } from '../vfs/index.ts'
import { commitOnce, isRecordStored } from './commit-once.ts'
import type { Answer, Batch, Engine } from './engine.ts'
import {
  diffFiles,
  type FileChange,
  type NameChange,
  touchedInodes,
  touchedNames,
} from './files/diff-files.ts'
import { Files } from './files/files.ts'
import { EngineReader } from './reader.ts'
import { seal } from './sealed.ts'
import type { Session } from './sessions/session.ts'
import type { NodeRef } from './tree/node.ts'
import { foldNodes, NodeCache } from './tree/node-cache.ts'
import { PageCodec } from './tree/page.ts'
import { type TreeValue, treeValues } from './tree/records.ts'
import { Tree } from './tree/tree.ts'
import { Blobs } from './vault/blobs.ts'
import { type Checkpoint, Checkpoints, decodeCheckpoint } from './vault/checkpoints.ts'
import { isSameContent } from './vault/content.ts'
import { type Ancestor, decodeHead, encodeHead, type Head, vaultKey, vaultPrefix } from './vault/head.ts'
import { Ids } from './vault/ids.ts'
import { OpenLogs } from './vault/open-logs.ts'
import type { Besides } from './vault/pending.ts'
import { quotaKey } from './vault/quota.ts'
import { momentOf } from './vault/replica.ts'
import { VaultLog } from './vault/vault-log.ts'

const CACHED_PAGE_BYTES = 16 * 1024 * 1024
const VAULT_NAME = /^[A-Za-z0-9][A-Za-z0-9_-]{0,63}$/

/** A home's vaults: each a tree of its own on pages they all share. */
export class StoreHome {
  readonly engine: Engine
  readonly reader: EngineReader
  readonly cache: NodeCache<TreeValue>
  readonly codec: PageCodec<TreeValue> = new PageCodec(treeValues)
  readonly ids: Ids
  readonly blobs: Blobs
  readonly session: Session
  readonly #open = new OpenLogs()

  constructor(engine: Engine) {
    this.engine = engine
    this.reader = new EngineReader(engine)
    this.session = this.reader.session
    this.ids = new Ids(this.reader)
    this.blobs = new Blobs(this.reader, this.ids.next)
    this.cache = new NodeCache({
      codec: this.codec,
      readPage: (id) => this.reader.page(id),
      capacity: CACHED_PAGE_BYTES,
    })
  }

  /** Makes an empty vault. EINVAL, EEXIST. */
  async create(name: string): Promise<VaultLog> {
    assertVaultName(name)
    const created = Date.now()
    const files = new Files(new Tree(this.cache))
    files.format(momentOf(created, 0))
    // A fresh tree is a single page; with the vault's own number that makes two.
    await this.reader.resolve(() => this.ids.ensure(2))
    const pages: { id: number; bytes: Uint8Array }[] = []
    const root = foldNodes(files.tree.snapshot(), this.codec, this.ids.next, (page) => pages.push(page))
    const head: Head = { id: this.ids.next(), root, seq: 0, created, lineage: [] }
    return this.#found(name, head, { pages })
  }

  /** A vault that starts as another is now, in constant time; durable when it resolves. EINVAL, EEXIST, ENOENT. */
  async fork(source: string, name: string): Promise<VaultLog> {
    assertVaultName(name)
    const log = await this.vault(source)
    const id = await this.reader.resolve(() => this.ids.next())
    const quota = await this.#quotaOf(log, id)
    const heads: Head[] = []
    await log.fold({
      durable: true,
      check: () => {
        if (this.reader.record(vaultKey(name)) !== undefined) throw taken(name)
      },
      records: ({ id: vault, root, seq }) => {
        const head = grownFrom(log.head, { vault: source, id: vault, root, seq, time: Date.now() }, id)
        heads.push(head)
        return [{ key: vaultKey(name), bytes: encodeHead(head) }, ...quota]
      },
    })
    const head = heads.at(-1)
    if (head === undefined) throw new Error('a fold that succeeds has asked for its records')
    return this.#opened(name, head)
  }

  /** A vault that starts as another was at a checkpoint. EINVAL, EEXIST, ENOENT. */
  async forkAt(source: string, checkpoint: string, name: string): Promise<VaultLog> {
    assertVaultName(name)
    const log = await this.vault(source)
    const kept = await this.reader.resolve(() => this.checkpoints(log).record(checkpoint))
    const { root, seq, time } = decodeCheckpoint(kept)
    const id = await this.reader.resolve(() => this.ids.next())
    const head = grownFrom(log.head, { vault: source, id: log.head.id, root, seq, time }, id)
    return this.#found(name, head, { expect: [kept], records: await this.#quotaOf(log, id) })
  }

  /** A vault that starts where a fork of another did, whatever became of both since. EINVAL, EEXIST, ENOENT. */
  async forkBeside(source: string, sibling: string, name: string): Promise<VaultLog> {
    assertVaultName(name)
    const log = await this.vault(sibling)
    const [ancestor] = log.head.lineage
    if (ancestor?.vault !== source) {
      const detail = `'${sibling}' is not a fork of '${source}'`
      throw new VfsError('EINVAL', sibling, { op: 'fork', detail })
    }
    const { root, seq } = ancestor
    const id = await this.reader.resolve(() => this.ids.next())
    const head: Head = { id, root, seq, created: Date.now(), lineage: log.head.lineage }
    return this.#found(name, head, { records: await this.#quotaOf(log, id) })
  }

  /** Refuses a vault that could not be adopted, before its tree is made. EINVAL, EEXIST. */
  async assertAdoptable(name: string, checkpoint?: Pick<Checkpoint, 'name'>): Promise<void> {
    assertVaultName(name)
    await this.reader.resolve(() => {
      if (this.reader.record(vaultKey(name)) !== undefined) throw taken(name)
      // No vault has this number: only the name itself can be wrong.
      if (checkpoint !== undefined) new Checkpoints(this.reader, 0).assertFree(checkpoint.name)
    })
  }

  /** Makes a vault of a stored tree nothing leads to yet, with a checkpoint of it. EINVAL, EEXIST. */
  async adopt(
    name: string,
    root: number,
    checkpoint?: Pick<Checkpoint, 'name' | 'uid' | 'description' | 'meta'>,
    besides: Besides = () => ({}),
  ): Promise<VaultLog> {
    await this.assertAdoptable(name, checkpoint)
    const time = Date.now()
    const id = await this.reader.resolve(() => this.ids.next())
    const head: Head = { id, root, seq: 0, created: time, lineage: [] }
    const checkpoints = new Checkpoints(this.reader, id)
    const kept = checkpoint === undefined ? [] : [checkpoints.rowOf({ ...checkpoint, root, seq: 0, time })]
    const { expect = [] } = await this.reader.resolve(besides)
    return this.#found(name, head, { expect, records: kept })
  }

  /** An existing vault. ENOENT. */
  async vault(name: string): Promise<VaultLog> {
    const open = this.#open.get(name)
    if (open !== undefined && (await this.#isThere(open))) return open
    if (open !== undefined && this.#open.get(name) === open) this.#open.delete(name)
    const bytes = await this.reader.resolve(() => this.reader.record(vaultKey(name)))
    if (bytes === undefined) throw missing(name)
    // Somebody else in this process may have opened it meanwhile: there is one log for each vault.
    const log = this.#open.get(name) ?? this.#opened(name, decodeHead(bytes))
    await this.reader.resolve(() => log.refresh())
    return log
  }

  /** Forgets a vault and its checkpoints; forks of it live on. Its room comes back with the next collection. ENOENT. */
  async delete(name: string): Promise<void> {
    const log = await this.vault(name)
    const { id } = log.head
    // A last row takes the place of the next one: whoever has the vault open and writes is refused, and sees why.
    await log.submit(
      () => ({ op: 'delete', path: '/' }),
      {},
      () => {
        const checkpoints = this.reader.records(`checkpoint/${id}/`).map(({ key }) => key)
        const gone = [vaultKey(name), quotaKey(id), `index/${id}`, ...checkpoints]
        const note = { key: `deleted/${id}`, bytes: Buffer.from(name) }
        return { records: [...gone.map((key) => ({ key, bytes: null })), note] }
      },
    )
    log.invalidate()
    this.#open.delete(name)
  }

  /** Takes a durable checkpoint of a vault: O(1), whatever it holds. EINVAL, EEXIST. */
  async checkpoint(
    log: VaultLog,
    name?: string,
    about: Partial<Pick<Checkpoint, 'description' | 'uid' | 'meta'>> = {},
  ): Promise<Checkpoint> {
    const checkpoints = this.checkpoints(log)
    const time = Date.now()
    let called = name ?? ''
    const uid = randomBytes(16).toString('hex')
    const taken: Checkpoint[] = []
    await log.fold({
      durable: true,
      isCheckpoint: true,
      check: () => {
        // Chosen at each attempt: if others take it meanwhile, the commit is refused, and there is another attempt.
        if (name === undefined) called = checkpoints.defaultName(time)
        else checkpoints.assertFree(name)
      },
      records: ({ root, seq, checkpoints: order = 0 }) => {
        const checkpoint = { uid, ...about, name: called, root, seq, order, time }
        taken.push(checkpoint)
        return [checkpoints.rowOf(checkpoint)]
      },
    })
    const checkpoint = taken.at(-1)
    if (checkpoint === undefined) throw new Error('a fold that succeeds has asked for its records')
    return checkpoint
  }

  checkpoints({ head }: VaultLog): Checkpoints {
    return new Checkpoints(this.reader, head.id)
  }

  /** Returns the checkpoints that its ancestors had when a vault was forked from them, the oldest first. */
  inheritedCheckpoints({ head }: VaultLog): Checkpoint[] {
    return head.lineage
      .toReversed()
      .flatMap(({ id, seq }) =>
        new Checkpoints(this.reader, id).list().filter((checkpoint) => checkpoint.seq <= seq),
      )
  }

  /** The files of a stored tree, which never change. */
  filesAt(root: NodeRef<TreeValue>): Files {
    return new Files(new Tree(this.cache, root))
  }

  /**
   * What changed from one tree to another, in time proportional to the changes. `apartFrom`: inodes from this number
   * on have nothing to do with each other, as the trees parted before they were made.
   */
  diff(before: NodeRef<TreeValue>, after: NodeRef<TreeValue>, apartFrom?: number): FileChange[] {
    const comparison = this.#comparison(before, after)
    return diffFiles(apartFrom === undefined ? comparison : { ...comparison, apartFrom })
  }

  /** Every inode of which anything differs between two trees. */
  touched(before: NodeRef<TreeValue>, after: NodeRef<TreeValue>): Set<number> {
    return touchedInodes(this.#comparison(before, after))
  }

  /** Every name that leads elsewhere in the second of two trees. */
  touchedNames(before: NodeRef<TreeValue>, after: NodeRef<TreeValue>): NameChange[] {
    return touchedNames(this.#comparison(before, after))
  }

  /** Does work on stored trees that no record may name any more before it is done; it says which, as it finds them. */
  async holding<T>(work: (hold: (root: number) => number) => Promise<T>): Promise<T> {
    await this.session.enter()
    const roots: number[] = []
    const held = { storedRoots: () => roots }
    const hold = this.session.hold(held)
    try {
      return await work((root) => {
        roots.push(root)
        // After long work the session is at rest again, and nobody asks it.
        this.session.changed(true)
        return root
      })
    } finally {
      hold.release()
    }
  }

  /** The names of all vaults, in order. */
  names(): Answer<string[]> {
    return this.reader.resolve(() =>
      this.reader.records(vaultPrefix).map(({ key }) => key.slice(vaultPrefix.length)),
    )
  }

  /** Folds every vault this process has open: what is stored is then all there is. */
  async foldAll(): Promise<void> {
    for (const [name, log] of this.#open.entries()) {
      try {
        await log.fold({ frees: true })
      } catch (error) {
        // Deleted by another process: there is nothing to keep.
        if (!(error instanceof VfsError && error.code === 'ENOENT')) throw error
        this.#open.delete(name)
      }
    }
  }

  /**
   * Commits what waits in every vault this process has open, and folds them. A fold that fails, at a damaged page or on
   * a full disk, loses nothing: it is all in the journal, unless that is gone.
   */
  async settleAll(): Promise<void> {
    let areFolded = true
    for (const [, log] of this.#open.entries()) areFolded = (await log.settle()) && areFolded
    if (!areFolded) await this.engine.commit({})
  }

  /** Settles every open vault and closes the engine. */
  async close(): Promise<void> {
    try {
      await this.settleAll()
    } finally {
      this.#open.clear()
      await this.session.close()
      await this.engine.close()
    }
  }

  /** Another process may have deleted it, and made another of the same name. */
  async #isThere(log: VaultLog): Promise<boolean> {
    try {
      await this.reader.resolve(() => log.refresh())
      return true
    } catch (error) {
      if (isVfsError(error, 'ENOENT')) return false
      throw error
    }
  }

  #comparison(before: NodeRef<TreeValue>, after: NodeRef<TreeValue>): Parameters<typeof diffFiles>[0] {
    return {
      source: this.cache,
      before,
      after,
      isSameValue: (one, other) => this.codec.isSameValue(one, other),
      sameBytes: (old, oldNumber, now, newNumber) =>
        isSameContent(old, oldNumber, now, newNumber, this.blobs),
    }
  }

  /** A fork may not hold more than what it grew from. */
  async #quotaOf(log: VaultLog, fork: number): Promise<{ key: string; bytes: Uint8Array }[]> {
    const quota = await this.reader.resolve(() => log.quota)
    if (Object.keys(quota).length === 0) return []
    return [{ key: quotaKey(fork), bytes: seal(quota) }]
  }

  /** Records a new vault, together with the rest of a batch. EEXIST. */
  async #found(
    name: string,
    head: Head,
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
    if (!isNew) throw taken(name)
    return this.#opened(name, head)
  }

  #opened(name: string, head: Head): VaultLog {
    const { reader, cache, codec, blobs, ids } = this
    const log = new VaultLog({ reader, cache, codec, blobs, ids, key: vaultKey(name) }, head)
    this.#open.set(name, log)
    return log
  }
}

function grownFrom({ lineage }: Head, ancestor: Ancestor, id: number): Head {
  const { root, seq } = ancestor
  // At an early checkpoint, some of what the other grew from may lie behind it already; that stays as it is.
  return { id, root, seq, created: Date.now(), lineage: [ancestor, ...lineage] }
}

function missing(name: string): VfsError {
  return new VfsError('ENOENT', name, { op: 'open', detail: `there is no vault '${name}'` })
}

function taken(name: string): VfsError {
  return new VfsError('EEXIST', name, { op: 'create', detail: `there is a vault '${name}' already` })
}

/** EINVAL for a name that no vault can have. */
export function assertVaultName(name: string): void {
  if (VAULT_NAME.test(name)) return
  const detail = 'a vault name is 1 to 64 letters, digits, - or _, and starts with a letter or digit'
  throw new VfsError('EINVAL', name, { op: 'create', detail })
}
