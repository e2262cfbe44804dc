import { join } from 'node:path'
import type {
  FsckReport,
  GcOptions,
  GcReport,
  MaintenanceOptions,
  PosixFiles,
  PosixOptions,
  StoreHome,
} from '../../../store/index.ts'
import { type PathChange, VfsError } from '../../../vfs/index.ts'
import type { ChangedInodes, ForeignChangeOptions } from '../foreign-changes.ts'
import { isMachineName } from '../hidden-names.ts'
import { Home } from '../home.ts'
import type { ForkOptions, ForkRestore, VaultInfo } from '../home-options.ts'
import type { LeaseOptions } from '../lease.ts'
import type { MachineCopy } from '../machine-copy.ts'
import type { MergeOptions } from '../merge-options.ts'
import type { ExportedStep, HistoryOptions, IncomingHistory } from '../transfer/history/index.ts'
import type {
  ExportOptions,
  ExportReport,
  ImportOptions,
  ImportReport,
  ReceiveOptions,
  ReceiveReport,
  SalvageOptions,
  SalvageReport,
  SendOptions,
} from '../transfer/index.ts'
import type { Vault } from '../vault.ts'
import { LeaseNotes } from './lease-notes.ts'
import { MachineHome } from './machine-home.ts'
import { openMachineCopy } from './open-machine-copy.ts'
import { formatUnshipped, type LeasedVault, type UnshippedChanges, VaultLease } from './vault-lease.ts'

/**
 * A home in a database, with this machine's part of it. A vault is in the part of this machine if that has one of its
 * name; otherwise it is in the database.
 */
export class SharedHome extends Home {
  readonly #store: StoreHome
  readonly #shared: Home
  readonly #machine: MachineHome
  readonly #notes: LeaseNotes
  readonly #leases = new Set<VaultLease>()
  readonly #unshipped: UnshippedChanges[] = []
  #recovery: Promise<void> | undefined

  /** @param path the directory of this machine's part. */
  constructor(store: StoreHome, path: string) {
    const machine = new MachineHome(path)
    super(store, path, machine.location)
    this.#store = store
    this.#shared = new Home(store, path)
    this.#machine = machine
    this.#notes = new LeaseNotes(join(path, 'leases'))
  }

  override get isShared(): boolean {
    return true
  }

  override get unshipped(): readonly string[] {
    return this.#unshipped.map(formatUnshipped)
  }

  override async openMachineCopy(vault: string): Promise<MachineCopy | undefined> {
    const isLeased = await this.#shipIfLeased(vault)
    if (!isLeased && (await this.#machine.findWith(vault))) return undefined
    const shared = { home: this.#shared, store: this.#store }
    return openMachineCopy({ vault, shared, machine: await this.#machine.open() })
  }

  override async lease(vault: string, by: LeaseOptions = {}): Promise<VaultLease> {
    await this.#recoverLeases()
    const note = this.#notes.find(vault)
    if (note !== undefined || (await this.#machine.findWith(vault))) {
      const detail = `a process of this machine has '${vault}' already; use it by its mount, or wait until it ends`
      throw new VfsError('EUNAVAILABLE', vault, { op: 'lease', detail })
    }
    const lease = await VaultLease.take(await this.#getLeased(vault), by)
    this.#leases.add(lease)
    return lease
  }

  override async createVault(name: string): Promise<Vault> {
    if (!isMachineName(name)) {
      await this.#assertFree(name)
      return this.#shared.createVault(name)
    }
    return (await this.#machine.open()).home.createVault(name)
  }

  override async vault(name: string): Promise<Vault> {
    return (await this.#find(name)).vault(name)
  }

  override async posix(name: string, options: PosixOptions = {}): Promise<PosixFiles> {
    return (await this.#find(name)).posix(name, options)
  }

  override async *watchForeignChanges(
    name: string,
    options: ForeignChangeOptions,
  ): AsyncGenerator<ChangedInodes> {
    yield* (await this.#find(name)).watchForeignChanges(name, options)
  }

  override async listTouchedPaths(base: string, vault: string): Promise<string[]> {
    return (await this.#findBoth(base, vault)).listTouchedPaths(base, vault)
  }

  override async hasVault(name: string): Promise<boolean> {
    return (await this.#find(name)).hasVault(name)
  }

  override async vaults(): Promise<string[]> {
    await this.#recoverLeases()
    const shared = await this.#shared.vaults()
    if (!this.#machine.exists) return shared
    const { home } = await this.#machine.open()
    return [...new Set([...shared, ...(await home.vaults())])].sort()
  }

  override async info(name: string): Promise<VaultInfo> {
    return (await this.#find(name)).info(name)
  }

  override async deleteVault(name: string): Promise<void> {
    this.#assertNotLeased(name)
    await (await this.#find(name)).deleteVault(name)
  }

  override async fork(source: string, name: string, options: ForkOptions = {}): Promise<Vault> {
    // Others see the fork of a leased vault, as they see the vault.
    const isShared = !isMachineName(name) && (await this.#shipIfLeased(source))
    const home = isShared ? this.#shared : await this.#find(source)
    await this.#assertFree(name)
    return home.fork(source, name, options)
  }

  override async merge(source: string, target: string, options: MergeOptions = {}): Promise<PathChange[]> {
    this.#assertNotLeased(target)
    if ((await this.#shipIfLeased(source)) && (await this.#find(target)) === this.#shared)
      return this.#shared.merge(source, target, options)
    return (await this.#findBoth(source, target)).merge(source, target, options)
  }

  override async restoreFork(target: string, state: ForkRestore): Promise<void> {
    await (await this.#find(target)).restoreFork(target, state)
  }

  override async undoMerge(
    target: string,
    provenance: Pick<MergeOptions, 'caller' | 'trace'> = {},
  ): Promise<PathChange[]> {
    return (await this.#find(target)).undoMerge(target, provenance)
  }

  override async canUndoMerge(target: string): Promise<boolean> {
    return (await this.#find(target)).canUndoMerge(target)
  }

  override async import(
    directory: string,
    vault: string,
    options: ImportOptions = {},
  ): Promise<ImportReport> {
    return (await this.#find(vault)).import(directory, vault, options)
  }

  override async export(
    vault: string,
    directory: string,
    options: ExportOptions = {},
  ): Promise<ExportReport> {
    return (await this.#find(vault)).export(vault, directory, options)
  }

  override async salvage(
    vault: string,
    directory: string,
    options: SalvageOptions = {},
  ): Promise<SalvageReport> {
    return (await this.#find(vault)).salvage(vault, directory, options)
  }

  override async importHistory(
    vault: string,
    history: IncomingHistory,
    options: HistoryOptions = {},
  ): Promise<number> {
    return (await this.#find(vault)).importHistory(vault, history, options)
  }

  override async *history(vault: string): AsyncGenerator<ExportedStep> {
    yield* (await this.#find(vault)).history(vault)
  }

  override async *send(vault: string, options: SendOptions = {}): AsyncGenerator<Uint8Array> {
    yield* (await this.#find(vault)).send(vault, options)
  }

  override async receive(
    stream: AsyncIterable<Uint8Array>,
    options: ReceiveOptions = {},
  ): Promise<ReceiveReport> {
    const home = options.as === undefined ? this.#shared : await this.#find(options.as)
    return home.receive(stream, options)
  }

  /** Collects in the database, and in this machine's part. Reports the former. */
  override async gc(options: GcOptions = {}): Promise<GcReport> {
    if (this.#machine.exists) await (await this.#machine.open()).home.gc(options)
    return this.#shared.gc(options)
  }

  /** Verifies both parts. */
  override async fsck(options: MaintenanceOptions = {}): Promise<FsckReport> {
    const report = await this.#shared.fsck(options)
    if (!this.#machine.exists) return report
    const own = await (await this.#machine.open()).home.fsck(options)
    return {
      checked: report.checked + own.checked,
      damaged: [...report.damaged, ...own.damaged],
      orphanedSegments: [...report.orphanedSegments, ...own.orphanedSegments],
    }
  }

  /** Counts the changes of both parts: forks of directories are on this machine. */
  override async getChangeCount(): Promise<number> {
    const shared = await this.#shared.getChangeCount()
    if (!this.#machine.exists) return shared
    return shared + (await (await this.#machine.open()).home.getChangeCount())
  }

  override async sync(): Promise<void> {
    for (const lease of this.#leases) await lease.flush()
    await this.#shared.sync()
    if (this.#machine.exists) await (await this.#machine.open()).home.sync()
  }

  override async close(): Promise<void> {
    try {
      for (const lease of this.#leases) await lease.release()
    } finally {
      await this.#machine.close()
      await this.#shared.close()
    }
  }

  /** Returns the home that has a vault: this machine's part, or the database. */
  async #find(vault: string): Promise<Home> {
    await this.#recoverLeases()
    return (await this.#machine.findWith(vault)) ?? this.#shared
  }

  /** Reports whether this machine has leased a vault. If this process has, ships what was changed. */
  async #shipIfLeased(vault: string): Promise<boolean> {
    await this.#recoverLeases()
    for (const lease of this.#leases) if (lease.vault.name === vault) await lease.flush()
    return this.#notes.find(vault) !== undefined
  }

  /** EUNAVAILABLE for a vault that this machine has leased, where work in the database would not see its changes. */
  #assertNotLeased(vault: string): void {
    if (this.#notes.find(vault) === undefined) return
    const detail = `this machine has leased '${vault}'; unmount it first, or work in a fork of it`
    throw new VfsError('EUNAVAILABLE', vault, { op: 'lease', detail })
  }

  async #getLeased(vault: string): Promise<LeasedVault> {
    const shared = { home: this.#shared, store: this.#store }
    return { vault, shared, machine: await this.#machine.open(), notes: this.#notes }
  }

  /** Ships what processes of this machine left that have ended, and gives their vaults back. Once. */
  #recoverLeases(): Promise<void> {
    this.#recovery ??= this.#recoverEach().catch((error: unknown) => {
      this.#recovery = undefined
      throw error
    })
    return this.#recovery
  }

  async #recoverEach(): Promise<void> {
    for (const { vault, lease } of this.#notes.listAbandoned()) {
      // Other processes of this machine leave it to this one.
      this.#notes.write(vault, lease)
      const unshipped = await VaultLease.recover(await this.#getLeased(vault), lease)
      if (unshipped !== undefined) this.#unshipped.push(unshipped)
    }
  }

  /** Returns the home that has two vaults. EINVAL if one of them is elsewhere. */
  async #findBoth(one: string, other: string): Promise<Home> {
    const [home, second] = [await this.#find(one), await this.#find(other)]
    if (home === second) return home
    const local = second === this.#shared ? one : other
    const detail = `'${local}' is on this machine only, and '${local === one ? other : one}' is in the database`
    throw new VfsError('EINVAL', local, { op: 'merge', detail })
  }

  async #assertFree(name: string): Promise<void> {
    if (!(await this.#machine.findWith(name)) && !(await this.#shared.hasVault(name))) return
    throw new VfsError('EEXIST', name, { op: 'create', detail: `there is a vault '${name}' already` })
  }
}
