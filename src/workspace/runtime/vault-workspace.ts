import type { Checkout, CheckoutOptions, Checkouts } from '../checkout/index.ts'
import {
  ForkPoint,
  forkByName,
  forkByNumber,
  importSession,
  isSameAt,
  type LinkVault,
  removeEntry,
  revertChanges,
} from '../link/index.ts'
import type { SessionChange, SessionKind } from '../session/index.ts'
import {
  type Baseline,
  type CollectedChanges,
  type CommandChanges,
  type ExecutionWorkspace,
  type NewVaultFork,
  NO_CHANGES,
  type VaultStart,
} from './execution-workspace.ts'
import { LiveFork } from './live-fork.ts'
import type { WorkspaceHome } from './workspace-home.ts'

/** The vault of an execution, and where its changes go. */
export interface VaultChoice {
  /** The vault, or the fork of one, that the command sees. */
  readonly vault: string
  /** The vault of a database of which `vault` is a copy on this machine. */
  readonly copyOf?: string | undefined
  /** Brings the changes from the copy, or from this fork of it, to the database. */
  readonly publish?: ((fork: string, by: CollectedChanges['by']) => Promise<void>) | undefined
  /** Creates a fork for the changes, if there are any. Without it, the changes go into the vault itself. */
  readonly newFork?: NewVaultFork | undefined
  /** Checkouts of the home, one of which holds the vault during a run. */
  readonly checkouts: Checkouts
}

/** A vault as a workspace. It is checked out or served for the command. The changes go into it or into a new fork. */
export class VaultWorkspace implements ExecutionWorkspace {
  readonly #home: WorkspaceHome
  readonly #choice: VaultChoice
  /** The state of the vault at the start of the command. */
  #point: ForkPoint | undefined
  /** The fork that a session of the kind `fuse` changes in place. */
  #live: LiveFork | undefined
  /** The files that the changes of any other session are relative to. */
  #checkout: Checkout | undefined
  /** The vault that has the changes, once there are any. */
  #fork: LinkVault | undefined
  /** Changes of the session as they were stored last: a later collection reverts those that are gone. */
  #kept: readonly SessionChange[] = []
  /** True if another process stores the changes later, with the start of the session. */
  #isLeft = false

  constructor(home: WorkspaceHome, choice: VaultChoice) {
    this.#home = home
    this.#choice = choice
  }

  /** The vault that gets the changes; undefined if a new fork would, and there are none. */
  get fork(): string | undefined {
    const { vault, newFork } = this.#choice
    return newFork === undefined ? vault : this.#fork?.name
  }

  async baseline(kind: SessionKind, options: CheckoutOptions = {}): Promise<Baseline> {
    // The command does not see concurrent changes of the vault: the fork starts here.
    const point = await ForkPoint.create(this.#home, this.#choice.vault)
    this.#point = point
    try {
      const opened = await this.#openBaseline(kind, point, options)
      const dispose = async () => {
        if (this.#isLeft) return this.#checkout?.[Symbol.asyncDispose]()
        await opened[Symbol.asyncDispose]()
        await point[Symbol.asyncDispose]()
      }
      return { session: opened.session, [Symbol.asyncDispose]: dispose }
    } catch (error) {
      await point[Symbol.asyncDispose]()
      throw error
    }
  }

  describeStart(): VaultStart | undefined {
    const { vault, copyOf, newFork } = this.#choice
    if (this.#point === undefined) return undefined
    return {
      vault,
      copyOf,
      newFork,
      point: this.#point.vault,
      live: this.#live?.vault,
      created: newFork === undefined ? undefined : this.#fork?.name,
    }
  }

  keepStart(): void {
    this.#isLeft = true
  }

  async checkpoint(): Promise<string | null> {
    const { vault, newFork } = this.#choice
    const fork = newFork === undefined ? await this.#home.vault(vault) : this.#fork
    return fork === undefined ? null : (await fork.checkpoint()).name
  }

  async collect(collected: CollectedChanges): Promise<CommandChanges> {
    const isNew = this.#choice.newFork !== undefined && this.#fork === undefined
    if (isNew && collected.changes.length === 0) return NO_CHANGES
    this.#fork ??= await this.#openFork()
    if (isNew) collected.onCreated?.()
    const checkpoint = isNew && collected.isCheckpointWanted ? (await this.#fork.checkpoint()).name : null
    if (isNew && this.#point !== undefined) {
      const changes = await this.#keepChanges(this.#fork, collected, this.#point.vault, isNew)
      return this.#fork === undefined ? changes : { ...changes, checkpoint }
    }
    // Excludes what earlier commands and others changed in the fork.
    const point = await ForkPoint.create(this.#home, this.#fork.name)
    const dispose = () => point[Symbol.asyncDispose]()
    try {
      const changes = await this.#keepChanges(this.#fork, collected, point.vault, isNew)
      return { ...changes, [Symbol.asyncDispose]: dispose }
    } catch (error) {
      await dispose()
      throw error
    }
  }

  /**
   * Stores changes in the fork, and returns those since a vault. A new fork in which only times changed is deleted,
   * unless it was named.
   */
  async #keepChanges(
    fork: LinkVault,
    { changes, by: provenance, onStored }: CollectedChanges,
    since: string,
    isNew: boolean,
  ): Promise<CommandChanges> {
    if (this.#live === undefined) await this.#import(fork.name, changes, provenance)
    else await this.#merge(this.#live, fork.name, changes, provenance)
    this.#kept = changes
    if (isNew && this.#choice.newFork?.name === undefined && (await this.#isUnchanged(fork.name))) {
      this.#fork = undefined
      this.#kept = []
      await this.#home.deleteVault(fork.name)
      return NO_CHANGES
    }
    const { publish, newFork, copyOf } = this.#choice
    if (publish === undefined) onStored?.(fork.name)
    const own = await Array.fromAsync(fork.diff({ vault: since }))
    const trees = { before: await this.#home.vault(since), after: fork }
    if (publish === undefined) return { ...NO_CHANGES, changes: own, trees }
    await publish(fork.name, provenance)
    onStored?.(newFork === undefined ? copyOf : fork.name)
    if (newFork === undefined) return { ...NO_CHANGES, changes: own, trees }
    // It is no longer on this machine.
    this.#fork = await this.#home.vault(fork.name)
    return { ...NO_CHANGES, changes: own, trees: { ...trees, after: this.#fork } }
  }

  async #isUnchanged(fork: string): Promise<boolean> {
    const base = this.#point?.vault
    if (base === undefined) return false
    const paths = await this.#home.listTouchedPaths(base, fork)
    return isSameAt(await this.#home.posix(base), await this.#home.posix(fork), paths)
  }

  async #openBaseline(kind: SessionKind, point: ForkPoint, options: CheckoutOptions): Promise<Baseline> {
    if (kind === 'fuse') {
      const live = await LiveFork.open(this.#home, point)
      this.#live = live
      return { session: live, [Symbol.asyncDispose]: () => live[Symbol.asyncDispose]() }
    }
    const checkout = await this.#choice.checkouts.acquire(point.vault, options)
    this.#checkout = checkout
    return {
      session: { lower: checkout.path, staged: [] },
      [Symbol.asyncDispose]: () => checkout[Symbol.asyncDispose](),
    }
  }

  async #openFork(): Promise<LinkVault> {
    const { vault, newFork } = this.#choice
    if (newFork === undefined) return this.#home.vault(vault)
    const { name, stem = vault } = newFork
    const options = this.#point === undefined ? {} : { baseOf: this.#point.vault }
    return name === undefined
      ? forkByNumber(this.#home, vault, stem, options)
      : forkByName(this.#home, vault, name, options)
  }

  async #import(
    fork: string,
    changes: readonly SessionChange[],
    provenance: CollectedChanges['by'],
  ): Promise<void> {
    const tree = await this.#home.posix(fork, { by: provenance })
    if (this.#checkout !== undefined && this.#kept.length > 0)
      await revertChanges(tree, await this.#home.posix(this.#checkout.vault), this.#kept, changes)
    await importSession(tree, changes)
  }

  async #merge(
    live: LiveFork,
    fork: string,
    changes: readonly SessionChange[],
    provenance: CollectedChanges['by'],
  ): Promise<void> {
    await this.#home.merge(live.vault, fork, { ...provenance, onConflict: 'theirs' })
    // No kind of session keeps pipes, sockets and devices.
    const nodes = changes.filter((change) => change.kind === 'put' && change.type === 'other')
    if (nodes.length === 0) return
    const tree = await this.#home.posix(fork, { by: provenance })
    for (const { path } of nodes) removeEntry(tree, path)
  }
}
