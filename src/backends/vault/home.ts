import { randomBytes } from 'node:crypto'
import {
  type FsckReport,
  forkFromSameBase,
  forkVault,
  forkVaultAt,
  forkVaultAtRow,
  fsck,
  type GcOptions,
  type GcReport,
  gc,
  getHomeStats,
  type HomeStats,
  type MaintenanceOptions,
  mergeVaults,
  PosixFiles,
  type PosixOptions,
  restoreVault,
  type StoreHome,
} from '../../store/index.ts'
import { assertOptions, type PathChange } from '../../vfs/index.ts'
import { type ChangedInodes, type ForeignChangeOptions, watchForeignChanges } from './foreign-changes.ts'
import { isMachineName, isTrackingName } from './hidden-names.ts'
import type { ForkOptions, ForkRestore, VaultInfo } from './home-options.ts'
import type { Lease, LeaseOptions } from './lease.ts'
import type { MachineCopy } from './machine-copy.ts'
import type { MergeOptions } from './merge-options.ts'
import { assertMergeTarget } from './mirror-name.ts'
import type { HomeLocation } from './open-engine.ts'
import { Race, type RaceLane } from './race.ts'
import { toPathChange } from './to-path-change.ts'
import { listTouchedPaths } from './touched-paths.ts'
import {
  type ExportedStep,
  exportHistory,
  type HistoryOptions,
  type IncomingHistory,
  importHistory,
} from './transfer/history/index.ts'
import {
  assertNotHome,
  type ExportOptions,
  type ExportReport,
  exportVault,
  type ImportOptions,
  type ImportReport,
  importDirectory,
  type ReceiveOptions,
  type ReceiveReport,
  receiveVault,
  type SalvageOptions,
  type SalvageReport,
  type SendOptions,
  salvageVault,
  sendVault,
} from './transfer/index.ts'
import { hasUndoableMerge, mergeUndoably, undoMerge } from './undoable-merge.ts'
import { Vault } from './vault.ts'

/**
 * A home: vaults that share pages and blobs. Close it when done; acknowledged changes are kept either way.
 *
 * @example
 * ```ts
 * const home = await openHome()
 * const base = await home.createVault('base')
 * const task = await home.fork('base', 'task')
 * await task.write('/plan.md', 'think\n')
 * await home.merge('task', 'base')
 * assert.equal(await readText(base, '/plan.md'), 'think\n')
 * await home.close()
 * ```
 */
export class Home implements AsyncDisposable {
  readonly #store: StoreHome
  /** The directory of the home; undefined if it is in memory. Of one in a database, that of this machine's part. */
  readonly path: string | undefined
  /** The options with which another process or thread opens it; undefined if none can. */
  readonly place: HomeLocation | undefined
  /** Paths that other users could read or enter until this home was opened. */
  readonly mended: readonly string[]

  constructor(store: StoreHome, path?: string, location?: HomeLocation, mended: readonly string[] = []) {
    this.#store = store
    this.path = path
    this.place = location
    this.mended = mended
  }

  /** True if its directory cannot be written, so that every change is EROFS. */
  get isReadOnly(): boolean {
    return this.#store.engine.isReadOnly === true
  }

  /** True if it is in a database, and this is a machine's part of it. */
  get isShared(): boolean {
    return false
  }

  /** Messages about changes of leased vaults that a process which has ended did not ship. */
  get unshipped(): readonly string[] {
    return []
  }

  /** Creates an empty vault. EINVAL for an invalid name, EEXIST. */
  async createVault(name: string): Promise<Vault> {
    return new Vault(this.#store, name, await this.#store.createVault(name))
  }

  /** Opens an existing vault. ENOENT. */
  async vault(name: string): Promise<Vault> {
    return new Vault(this.#store, name, await this.#store.openVault(name))
  }

  /**
   * Opens the files of a vault by inode number, as a kernel uses them. ENOENT; ENOTSUP on an engine that is not local.
   */
  async posix(name: string, options: PosixOptions = {}): Promise<PosixFiles> {
    return new PosixFiles(await this.#store.openVault(name), this.#store.blobs, options)
  }

  /**
   * Yields the changes by inode that are not made by one mount, until the signal aborts. ENOENT. See
   * `watchForeignChanges`.
   */
  async *watchForeignChanges(name: string, options: ForeignChangeOptions): AsyncGenerator<ChangedInodes> {
    yield* watchForeignChanges(this.#store, await this.#store.openVault(name), options)
  }

  /** Returns every path at which two vaults may differ, permissions and times included. O(changes). ENOENT. */
  async listTouchedPaths(base: string, vault: string): Promise<string[]> {
    return listTouchedPaths(
      this.#store,
      await this.#store.openVault(base),
      await this.#store.openVault(vault),
    )
  }

  /**
   * Copies a vault to this machine, for work that needs local files. Undefined if it is on this machine already. ENOENT.
   */
  async openMachineCopy(_vault: string): Promise<MachineCopy | undefined> {
    return undefined
  }

  /**
   * Takes a vault of a home in a database for this machine, which then works on it as fast as on a local home, mounts it
   * and uses synchronous calls. Others see its changes soon, and cannot change it until it is released. EUNAVAILABLE,
   * with the name of the holder, if another machine has it. A vault of a local home is always on this machine. ENOENT.
   */
  async lease(vault: string, _by: LeaseOptions = {}): Promise<Lease> {
    const opened = await this.vault(vault)
    return {
      vault: opened,
      lost: new Promise(() => {}),
      flush: () => opened.flush(),
      release: async () => {},
      [Symbol.asyncDispose]: async () => {},
    }
  }

  /** Reports whether there is a vault of this name. */
  async hasVault(name: string): Promise<boolean> {
    return this.#store.hasVault(name)
  }

  /** Returns the names of all vaults, sorted. */
  async vaults(): Promise<string[]> {
    return this.#store.listVaultNames()
  }

  /** Returns a summary of a vault. ENOENT. */
  async info(name: string): Promise<VaultInfo> {
    const log = await this.#store.openVault(name)
    return this.#store.reader.run(() => {
      const { files, bytes } = log.readFiles().getCounters()
      const [from] = log.head.lineage
      // A pulled vault begins as the hidden fork with the state that both homes have.
      const isPulled = from !== undefined && isTrackingName(from.vault) && !isMachineName(name)
      return {
        name,
        created: new Date(log.head.created),
        ...(from && !isPulled && { from: { vault: from.vault, time: new Date(from.time) } }),
        checkpoints: this.#store.getCheckpoints(log).list().length,
        changes: log.seq - log.journal.start,
        files,
        bytes,
      }
    })
  }

  /** Deletes a vault with its checkpoints. Its forks stay. ENOENT. */
  async deleteVault(name: string): Promise<void> {
    await this.#store.deleteVault(name)
  }

  /**
   * Forks a vault in its current state or at a checkpoint, O(1), or after a row of its journal, which takes time of the
   * rows since the last stored state before it. EINVAL for an invalid name or an unrelated fork, EEXIST, ENOENT.
   */
  async fork(source: string, name: string, options: ForkOptions = {}): Promise<Vault> {
    assertOptions(options, 'fork', (at) => `fork('${source}', '${name}', { at: '${at}' })`)
    const { at, row, baseOf, isTemporary = false } = options
    if (row !== undefined)
      return new Vault(this.#store, name, await forkVaultAtRow(this.#store, source, row, name))
    if (baseOf !== undefined)
      return new Vault(this.#store, name, await forkFromSameBase(this.#store, source, baseOf, name))
    const log =
      at === undefined
        ? forkVault(this.#store, source, name, { isDurable: !isTemporary })
        : forkVaultAt(this.#store, source, at, name)
    return new Vault(this.#store, name, await log)
  }

  /**
   * Merges the changes of one vault into another with a common ancestor, and returns them. One durable commit,
   * O(changes of both). Throws ECONFLICT with `conflicts`, and changes nothing, if both changed the same path and
   * `onConflict` is `fail`. EINVAL for vaults without a common ancestor, or a target that mirrors a directory. ENOENT.
   */
  async merge(source: string, target: string, options: MergeOptions = {}): Promise<PathChange[]> {
    assertMergeTarget(source, target)
    const { caller, trace, onConflict = 'fail', isUndoable = false, ...rest } = options
    const provenance = { ...(caller !== undefined && { caller }), ...(trace !== undefined && { trace }) }
    const request = { source, target, onConflict, provenance, ...rest }
    const perform = isUndoable && rest.isTrial !== true ? mergeUndoably : mergeVaults
    return (await perform(this.#store, request)).map(toPathChange)
  }

  /**
   * Restores the state that a vault had when its fork `before` was made, in one durable commit. ECONFLICT if it
   * changed after its fork `after` was made. ENOENT, EINVAL.
   */
  async restoreFork(target: string, state: ForkRestore): Promise<void> {
    const { caller, trace, ...restored } = state
    const provenance = { ...(caller !== undefined && { caller }), ...(trace !== undefined && { trace }) }
    await restoreVault(this.#store, { target, ...restored, provenance })
  }

  /**
   * Undoes the last merge into a vault that was done with `isUndoable`, and returns the changes. ENOENT if there is
   * none, ECONFLICT if the vault changed since.
   */
  async undoMerge(
    target: string,
    provenance: Pick<MergeOptions, 'caller' | 'trace'> = {},
  ): Promise<PathChange[]> {
    return (await undoMerge(this.#store, target, provenance)).map(toPathChange)
  }

  /** Reports whether `undoMerge` has a merge to undo; it may still refuse if the vault changed since. */
  canUndoMerge(target: string): Promise<boolean> {
    return hasUndoableMerge(this.#store, target)
  }

  /**
   * Forks a vault n times, runs the callback on each fork and returns the changes of each. Then keep one or drop them
   * all.
   */
  async race<T>(
    source: string,
    count: number,
    run: (vault: Vault, index: number) => Promise<T>,
  ): Promise<Race<T>> {
    const id = randomBytes(4).toString('hex')
    const names = Array.from(
      { length: count },
      (_, index) => `${source.slice(0, 40)}-race-${id}-${index + 1}`,
    )
    const vaults: Vault[] = []
    for (const name of names) vaults.push(await this.fork(source, name))
    const outcomes = await Promise.allSettled(vaults.map(async (vault, index) => run(vault, index)))
    const lanes: RaceLane<T>[] = []
    for (const [index, outcome] of outcomes.entries()) {
      const vault = vaults[index]
      if (vault !== undefined)
        lanes.push({ name: vault.name, vault, outcome, changes: await Array.fromAsync(vault.diff()) })
    }
    return new Race(lanes, {
      merge: (fork, options) => this.merge(fork, source, options),
      delete: (fork) => this.deleteVault(fork),
    })
  }

  /**
   * Imports a directory of this machine into a vault. An interrupted import continues when it is run again. See
   * `importDirectory`.
   */
  import(directory: string, vault: string, options: ImportOptions = {}): Promise<ImportReport> {
    return importDirectory(this.#store, { directory, vault, homePath: this.path }, options)
  }

  /**
   * Writes a vault, or one of its checkpoints, into a directory of this machine. EINVAL for that of the home. See
   * `exportVault`.
   */
  async export(vault: string, directory: string, options: ExportOptions = {}): Promise<ExportReport> {
    if (this.path !== undefined) assertNotHome(directory, this.path)
    return exportVault(this.#store, vault, directory, options)
  }

  /** Exports the readable files of a damaged vault into a new directory, and lists the others. See `salvageVault`. */
  salvage(vault: string, directory: string, options: SalvageOptions = {}): Promise<SalvageReport> {
    return salvageVault(this.#store, vault, directory, options)
  }

  /** Imports a history into a vault, each step as a checkpoint, and returns their number. See `importHistory`. */
  importHistory(vault: string, history: IncomingHistory, options: HistoryOptions = {}): Promise<number> {
    return importHistory(this.#store, vault, history, options)
  }

  /**
   * Yields the checkpoints of a vault and of its ancestors, the oldest first, with the changes between them. ENOENT.
   */
  history(vault: string): AsyncGenerator<ExportedStep> {
    return exportHistory(this.#store, vault)
  }

  /** Streams a vault, or its changes since a checkpoint, for `receive`. See `sendVault`. */
  send(vault: string, options: SendOptions = {}): AsyncGenerator<Uint8Array> {
    return sendVault(this.#store, vault, options)
  }

  /** Receives a stream of `send` from this home or another, atomically. See `receiveVault`. */
  receive(stream: AsyncIterable<Uint8Array>, options: ReceiveOptions = {}): Promise<ReceiveReport> {
    return receiveVault(this.#store, stream, options)
  }

  /** Removes unreachable pages and blobs, also while others write. */
  gc(options: GcOptions = {}): Promise<GcReport> {
    return gc(this.#store, options)
  }

  /** Verifies everything that is in use and lists all damage. */
  fsck(options: MaintenanceOptions = {}): Promise<FsckReport> {
    return fsck(this.#store, options)
  }

  stats(): Promise<HomeStats> {
    return getHomeStats(this.#store)
  }

  /** Returns a number that changes with commits of other processes, and with rows of this one. Cheap enough to ask often. */
  async getChangeCount(): Promise<number> {
    return this.#store.getChangeCount()
  }

  /** Makes everything acknowledged so far survive power loss, and shows what killed processes had acknowledged. */
  async sync(): Promise<void> {
    await this.#store.engine.sync()
  }

  close(): Promise<void> {
    return this.#store.close()
  }

  [Symbol.asyncDispose](): Promise<void> {
    return this.close()
  }
}
