import {
  createCheckpoint,
  createSearchIndex,
  decodeCheckpoint,
  getFirstDivergentInode,
  openSearchedTree,
  type StoreHome,
  type VaultLog,
} from '../../store/index.ts'
import {
  type CallContext,
  type Capability,
  checkPath,
  type Diffable,
  type FileSystem,
  type Forkable,
  type Match,
  type PathChange,
  ReadOnlyFs,
  type Searchable,
  type SearchQuery,
  type Versioned,
  VfsError,
  type Watchable,
} from '../../vfs/index.ts'
import { type CheckpointInfo, type CheckpointNotes, toCheckpointInfo } from './checkpoint-info.ts'
import { DetachedFs } from './detached-fs.ts'
import {
  type FeedItem,
  type FeedOptions,
  type JournalFilter,
  type JournalRecord,
  listJournalRecords,
  openFeed,
} from './feed.ts'
import type { HistorySource } from './history-fs.ts'
import { HistoryPathsFs } from './history-paths.ts'
import { Metadata, Tags } from './labels.ts'
import { MomentFs, type VaultMoment } from './moment-fs.ts'
import { SnapshotFs } from './snapshot-fs.ts'
import { toPathChange } from './to-path-change.ts'
import { toProvenance } from './to-provenance.ts'
import { VaultLimits } from './vault-limits.ts'
import { type TextHit, type TextSearchOptions, VaultSearch } from './vault-search.ts'
import { VaultVersions } from './vault-versions.ts'
import type { BlameLine, FileVersion } from './versions.ts'
import { watchChanges } from './watch-changes.ts'

const VAULT_CAPABILITIES: readonly Capability[] = ['search', 'fork', 'diff', 'version', 'watch']

/** The state to compare with: a checkpoint of the same vault by name, a vault, or a vault at a checkpoint. */
export type DiffBase = string | Vault | { readonly vault: string; readonly checkpoint?: string }

/**
 * A named tree that keeps its history: a file system that can be checkpointed, restored, compared and forked.
 *
 * @example
 * ```ts
 * const home = await openHome()
 * const vault = await home.createVault('base')
 * await vault.checkpoint('empty')
 * await vault.write('/a.txt', 'one\n')
 * await vault.restore('empty')
 * assert.equal(await vault.exists('/a.txt'), false)
 * await home.close()
 * ```
 */
export class Vault
  extends HistoryPathsFs
  implements AsyncDisposable, Forkable, Diffable, Versioned, Watchable, Searchable
{
  readonly name: string
  readonly tags: Tags
  readonly meta: Metadata
  readonly quota: VaultLimits
  readonly #home: StoreHome
  readonly #log: VaultLog
  readonly #search: VaultSearch
  readonly #versions: VaultVersions

  constructor(home: StoreHome, name: string, log: VaultLog) {
    super(log, home.blobs, VAULT_CAPABILITIES)
    this.#home = home
    this.name = name
    this.#log = log
    const labels = { inspect: this.inspect.bind(this), submit: log.submit.bind(log) }
    this.tags = new Tags(labels)
    this.meta = new Metadata(labels)
    this.quota = new VaultLimits(home, log)
    this.#versions = new VaultVersions(home, log)
    this.#search = new VaultSearch(createSearchIndex(home, log), () => openSearchedTree(home, name, log))
  }

  /** Creates a checkpoint of the current tree. O(1), and durable when it resolves. EINVAL for an invalid name, EEXIST. */
  async checkpoint(name?: string, { description, meta }: CheckpointNotes = {}): Promise<CheckpointInfo> {
    const notes = { ...(description !== undefined && { description }), ...(meta !== undefined && { meta }) }
    return toCheckpointInfo(
      await createCheckpoint(this.#log, this.#home.getCheckpoints(this.#log), name, notes),
    )
  }

  /** Returns every checkpoint, the oldest first. */
  async checkpoints(): Promise<CheckpointInfo[]> {
    const stored = await this.#home.reader.run(() => this.#home.getCheckpoints(this.#log).list())
    return stored.map(toCheckpointInfo)
  }

  /** Removes a checkpoint. ENOENT. */
  async removeCheckpoint(name: string): Promise<void> {
    await this.#home.getCheckpoints(this.#log).remove(name)
  }

  /** Restores the state of a checkpoint. O(1), atomic, and recorded in the journal. ENOENT. */
  async restore(name: string, ctx?: CallContext): Promise<void> {
    const readRecord = () => this.#home.getCheckpoints(this.#log).readRecord(name)
    const plan = () => {
      const { root } = decodeCheckpoint(readRecord())
      return { op: 'restore', path: '/', root, checkpoint: name } as const
    }
    // The checkpoint must still hold the tree when the journal starts to depend on it.
    await this.#log.submit(plan, toProvenance(ctx), () => ({ expect: [readRecord()] }))
    await this.#log.sync()
  }

  /**
   * Returns a read-only file system of the vault at a checkpoint, or at the fork. On use it throws ENOENT if there is
   * no such checkpoint, and EINVAL if the vault is no fork.
   */
  at(name?: string): FileSystem {
    const findRoot = () =>
      name === undefined ? this.#getForkRoot() : this.#home.getCheckpoints(this.#log).get(name).root
    return new ReadOnlyFs(new SnapshotFs(this.#home, this.#log, findRoot))
  }

  /**
   * Opens the vault as it was at a moment, read-only. `diff` of two moments takes time of their changes. ENOENT for an
   * unknown checkpoint, or a row that a garbage collection removed. EINVAL for the fork of a vault that is none.
   */
  openMoment(moment: VaultMoment): Promise<FileSystem> {
    return MomentFs.open(this.#home, this.#log, moment)
  }

  /** Returns the last journal row that a checkpoint includes. ENOENT. */
  async getCheckpointRow(name: string): Promise<number> {
    return this.#home.reader.run(() => this.#home.getCheckpoints(this.#log).get(name).seq)
  }

  /** Returns the last journal row before the vault's own: the one after which it was forked, or 0. */
  getForkRow(): number {
    return this.#log.journal.start
  }

  /** Returns the number of the last journal row. */
  async getLastRow(): Promise<number> {
    await this.#log.commitPending()
    await this.#home.reader.run(() => this.#log.refresh())
    return this.#log.seq
  }

  /**
   * Yields the changes since the fork, or since another state, sorted by path. O(changes). EINVAL if there is no base and the
   * vault is no fork, ENOENT for an unknown vault or checkpoint.
   */
  async *diff(base?: DiffBase): AsyncGenerator<PathChange> {
    const changes = await this.#home.session.withHolds(async (hold) => {
      const { root, log } = await this.#resolveBase(base)
      hold(root)
      const after = hold(await this.#log.flushForReading())
      return this.#home.reader.run(() =>
        this.#home.trees.diff(
          root,
          after,
          log && getFirstDivergentInode(this.#home, log.head, this.#log.head),
        ),
      )
    })
    for (const change of changes) yield toPathChange(change)
  }

  diffFrom(before: FileSystem): AsyncIterable<PathChange> | null {
    return before instanceof Vault && before.#home === this.#home ? this.diff(before) : null
  }

  /** Returns an unnamed fork in memory. `Home.fork` creates a persistent one. */
  fork(): FileSystem {
    const { reader } = this.#home
    this.#home.session.beginRead()
    // This call is synchronous, so on a remote store it starts from the last known state.
    return DetachedFs.from(
      this.#home,
      reader.engine.isSync ? this.#log.readFiles() : this.#log.getLastKnownFiles(),
    )
  }

  /** Yields the mutations with caller and time, the oldest first by default. A filter selects some of them. */
  journal(filter: JournalFilter = {}): AsyncGenerator<JournalRecord> {
    return listJournalRecords(this.#home, this.#log, filter)
  }

  /**
   * Yields the changes after a token, so that another process can follow and resume. EINVAL for another vault's token, or
   * if a garbage collection removed the records after it.
   */
  changes(options: FeedOptions = {}): AsyncGenerator<FeedItem> {
    return openFeed(this.#home, this.#log, options)
  }

  /**
   * Yields the versions of a file, the newest first. Also of a removed file, as long as the journal has it. ENOENT,
   * EISDIR.
   */
  async *versions(path: string): AsyncGenerator<FileVersion> {
    let isKnown = false
    for await (const version of this.#versions.list(path)) {
      isKnown = true
      yield version
    }
    // A file that was never written has no version; `stat` throws ENOENT for a path that never existed.
    if (!isKnown) await this.stat(path)
  }

  /** Yields the content of a version. ENOENT. */
  readVersion(path: string, version: string): AsyncGenerator<Uint8Array> {
    return this.#versions.read(path, version)
  }

  /** Restores the content of a version as a new version. ENOENT. */
  revert(path: string, version: string, ctx?: CallContext): Promise<void> {
    return this.#versions.revert(path, version, ctx)
  }

  /**
   * Returns each line of a file with its author, time and version; with a row of the journal, as the file was then.
   * ENOENT, EISDIR.
   */
  async blame(path: string, row?: number): Promise<BlameLine[]> {
    const fs = row === undefined ? this : await this.openMoment({ row })
    const { type } = await fs.stat(path)
    if (type === 'directory') throw new VfsError('EISDIR', path, { op: 'blame' })
    return this.#versions.blame(path, row)
  }

  /** Yields the matching lines at or below a path in the order of a walk, the same as reading every file. ENOENT. */
  search(root: string, query: SearchQuery, ctx?: CallContext): AsyncIterable<Match> {
    return this.stream(
      'search',
      root,
      ctx,
      (checked, inner) =>
        this.searchHistory(checked, query, inner) ?? this.#search.search(checked, query, inner),
    )
  }

  /**
   * Returns the files with every word of a query, best first: `word`, `pre*`, `"a phrase"`, `-without`. EINVAL if there
   * is no word in it, ENOENT.
   */
  searchText(query: string, options: TextSearchOptions = {}, ctx?: CallContext): Promise<TextHit[]> {
    const { root = '/', ...rest } = options
    return this.call('search', root, ctx, (checked, inner) =>
      this.#search.searchText(query, { root: checked, ...rest }, inner),
    )
  }

  /** Yields changes at or below a path, by any process, until the loop ends. */
  async *watch(path: string, ctx?: CallContext): AsyncGenerator<PathChange> {
    const top = checkPath(path, 'watch')
    for await (const change of watchChanges(this.#home, this.#log, top, ctx?.signal))
      yield toPathChange(change)
  }

  /** Makes everything acknowledged so far survive power loss. */
  async flush(): Promise<void> {
    await this.#log.commitPending()
    await this.#home.engine.sync()
  }

  /** Flushes its pages. The home closes the store itself. */
  async close(): Promise<void> {
    await this.#log.flushPages()
  }

  [Symbol.asyncDispose](): Promise<void> {
    return this.close()
  }

  protected historySource(): HistorySource {
    return {
      checkpoints: () => this.checkpoints(),
      at: async (name) => this.at(name),
      changes: () => this.#recentChanges(),
      journal: () => this.journal(),
    }
  }

  /** Returns the tree to compare with, and its log if it is another vault. */
  async #resolveBase(base: DiffBase | undefined): Promise<{ root: number; log?: VaultLog }> {
    const { reader } = this.#home
    if (base === undefined) return { root: this.#getForkRoot() }
    if (base instanceof Vault) return { root: await base.#log.flushForReading(), log: base.#log }
    if (typeof base === 'string')
      return { root: await reader.run(() => this.#home.getCheckpoints(this.#log).get(base).root) }
    const log = await this.#home.openVault(base.vault)
    const { checkpoint } = base
    if (checkpoint === undefined) return { root: await log.flushForReading(), log }
    return { root: await reader.run(() => this.#home.getCheckpoints(log).get(checkpoint).root), log }
  }

  #getForkRoot(): number {
    const [from] = this.#log.head.lineage
    if (from !== undefined) return from.root
    const detail = `'${this.name}' is not a fork; name a checkpoint or a vault to compare with`
    throw new VfsError('EINVAL', '/', { op: 'diff', detail })
  }

  /** Yields the changes since the fork, or since the last checkpoint; none if there is neither. */
  async *#recentChanges(): AsyncGenerator<PathChange> {
    if (this.#log.head.lineage.length > 0) yield* this.diff()
    else {
      const last = (await this.checkpoints()).at(-1)
      if (last !== undefined) yield* this.diff(last.name)
    }
  }
}
