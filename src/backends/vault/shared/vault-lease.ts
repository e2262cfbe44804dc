import { Mutex } from '../../../machine/index.ts'
import { createCheckpoint, type Hold, type StoreHome, type VaultLog } from '../../../store/index.ts'
import { VfsError } from '../../../vfs/index.ts'
import {
  createExchangeName,
  findCommonCheckpoint,
  forgetCheckpoint,
  hasChangedSince,
  isExchangeName,
} from '../exchange/index.ts'
import type { Lease, LeaseOptions } from '../lease.ts'
import { receiveVault, sendVault } from '../transfer/index.ts'
import type { Vault } from '../vault.ts'
import { acquireLease, type HeldLease, isHeld, releaseLease } from './acquire-lease.ts'
import type { LeaseNotes } from './lease-notes.ts'
import { type CopiedVault, fetchLatest } from './open-machine-copy.ts'

/** Interval at which changes are shipped. */
const SHIP_INTERVAL_MS = 1000

export interface LeasedVault extends CopiedVault {
  readonly notes: LeaseNotes
}

/** Changes of a leased vault that the database does not have, and the fork that has them now. */
export interface UnshippedChanges {
  readonly vault: string
  /** Number of changed paths. */
  readonly changes: number
  readonly fork: string
}

/**
 * A vault of a home in a database that this machine alone changes, with the speed and all faces of a local home. Its
 * changes are shipped to the database in the background; `flush` waits for that. Release it to give the vault back.
 */
export class VaultLease implements Lease {
  /** The vault on this machine. */
  readonly vault: Vault
  readonly #leased: LeasedVault
  readonly #log: VaultLog
  readonly #held: HeldLease
  readonly #by: LeaseOptions
  readonly #hold: Hold
  readonly #mutex = new Mutex()
  readonly #lost = Promise.withResolvers<VfsError>()
  /** Checkpoint of the last state that both homes have. */
  #shipped: string
  #timer: NodeJS.Timeout | undefined
  #isOver = false
  /** The error after another machine has taken the vault. */
  #loss: VfsError | undefined
  /** True once a caller has got that error. */
  #isLossKnown = false

  private constructor(
    leased: LeasedVault,
    vault: Vault,
    log: VaultLog,
    held: HeldLease,
    shipped: string,
    by: LeaseOptions,
  ) {
    this.#by = by
    this.#leased = leased
    this.vault = vault
    this.#log = log
    this.#held = held
    this.#shipped = shipped
    // While something is held, the session has an entry with a heartbeat.
    const root = { listStoredRoots: () => [log.head.root] }
    this.#hold = leased.shared.store.session.hold(root)
    // A failure shows itself to the next flush; until then the changes are on this machine.
    this.#timer = setInterval(() => void this.#shipInBackground(), SHIP_INTERVAL_MS).unref()
  }

  /** Takes a vault. EUNAVAILABLE, with the name of the holder, if another machine has it. ENOENT. */
  static async take(leased: LeasedVault, by: LeaseOptions = {}): Promise<VaultLease> {
    const { shared, machine, vault, notes } = leased
    const log = await shared.store.openVault(vault)
    const held = await acquireLease(shared.store, vault, log, { by })
    try {
      notes.write(vault, held.record.id)
      const { tracking, common } = await fetchLatest(leased)
      const copy = await machine.home.fork(tracking, vault, { at: common })
      const shipped = await createCommonCheckpoint(leased, log)
      return new VaultLease(leased, copy, log, held, shipped, by)
    } catch (error) {
      if (await machine.home.hasVault(vault)) await machine.home.deleteVault(vault)
      await releaseLease(shared.store, log, held)
      notes.remove(vault)
      throw error
    }
  }

  /**
   * Ships what a process that has ended left on this machine, and gives the vault back. If another machine has taken the
   * vault meanwhile, keeps the changes as a fork and returns it.
   */
  static async recover(leased: LeasedVault, lease: string): Promise<UnshippedChanges | undefined> {
    const { shared, machine, vault, notes } = leased
    if (!(await machine.home.hasVault(vault))) {
      notes.remove(vault)
      return undefined
    }
    const [copy, theirs] = [await machine.home.vault(vault), await shared.home.vault(vault)]
    const shipped = await findCommonCheckpoint(copy, theirs)
    const log = await shared.store.openVault(vault)
    const isOwn = shipped !== undefined && (await isRecorded(shared.store, log, lease))
    if (isOwn) {
      const held = await acquireLease(shared.store, vault, log, { continued: lease })
      await new VaultLease(leased, copy, log, held, shipped, {}).release()
      return undefined
    }
    const unshipped = shipped === undefined ? undefined : await keepUnshipped(leased, copy, shipped)
    await machine.home.deleteVault(vault)
    notes.remove(vault)
    return unshipped
  }

  /** Resolves with the reason if another machine takes the vault, because this one was silent for too long. */
  get lost(): Promise<VfsError> {
    return this.#lost.promise
  }

  async #shipInBackground(): Promise<void> {
    const ship = async () => {
      if (!this.#isOver) await this.#shipOrLose()
    }
    await this.#mutex.run(ship).catch(() => {})
  }

  /** Ships everything that was changed so far. ECONFLICT if another machine has taken the vault: then a fork has it. */
  flush(): Promise<void> {
    return this.#mutex.run(async () => {
      if (!this.#isOver) await this.#shipOrLose()
      if (this.#loss === undefined) return
      this.#isLossKnown = true
      throw this.#loss
    })
  }

  async release(): Promise<void> {
    clearInterval(this.#timer)
    // A loss is reported once, to a flush or here.
    if (!this.#isLossKnown) await this.flush()
    await this.#mutex.run(async () => {
      if (this.#isOver) return
      const { shared, machine, vault, notes } = this.#leased
      await releaseLease(shared.store, this.#log, this.#held)
      await machine.home.deleteVault(vault)
      await forgetCheckpoint(this.#shipped, [await shared.home.vault(vault)])
      notes.remove(vault)
      this.#end()
    })
  }

  [Symbol.asyncDispose](): Promise<void> {
    return this.release()
  }

  async #shipOrLose(): Promise<void> {
    try {
      await this.#ship()
    } catch (error) {
      const { shared } = this.#leased
      if (await isHeld(shared.store, this.#log, this.#held)) throw error
      this.#loss = await this.#keepLost()
      this.#end()
      this.#lost.resolve(this.#loss)
    }
  }

  /** Ships every checkpoint that the database does not have, and the current state. */
  async #ship(): Promise<void> {
    const names = (await this.vault.checkpoints()).map(({ name }) => name)
    for (const name of names.slice(names.indexOf(this.#shipped) + 1)) await this.#send(name)
    if (!(await hasChangedSince(this.vault, this.#shipped))) return
    const name = createExchangeName()
    await this.vault.checkpoint(name)
    await this.#send(name)
  }

  async #send(checkpoint: string): Promise<void> {
    const { shared, machine, vault } = this.#leased
    const since = this.#shipped
    const stream = sendVault(machine.store, vault, { checkpoint, since })
    await receiveVault(shared.store, stream, { as: vault, ...this.#by })
    this.#shipped = checkpoint
    // Checkpoints of users stay.
    if (isExchangeName(since)) await forgetCheckpoint(since, [this.vault, await shared.home.vault(vault)])
  }

  /** Keeps what was not shipped before another machine took the vault, and returns the error that says so. */
  async #keepLost(): Promise<VfsError> {
    const { machine, vault, notes } = this.#leased
    const unshipped = await keepUnshipped(this.#leased, this.vault, this.#shipped)
    this.#log.setLease(null)
    await machine.home.deleteVault(vault)
    notes.remove(vault)
    return createLostError(vault, unshipped)
  }

  #end(): void {
    clearInterval(this.#timer)
    this.#isOver = true
    this.#hold.release()
  }
}

async function isRecorded(store: StoreHome, log: VaultLog, lease: string): Promise<boolean> {
  return isHeld(store, log, {
    record: { id: lease, holder: '', session: '', since: 0 },
    bytes: new Uint8Array(),
  })
}

/** Gives both homes a checkpoint of the same identity: nobody has changed the vault since it was leased. */
async function createCommonCheckpoint(
  { shared, machine, vault }: LeasedVault,
  log: VaultLog,
): Promise<string> {
  const own = await machine.store.openVault(vault)
  const name = createExchangeName()
  const { uid } = await createCheckpoint(own, machine.store.getCheckpoints(own), name)
  await createCheckpoint(log, shared.store.getCheckpoints(log), name, { uid })
  return name
}

/** Sends what was not shipped to a fork of the last shipped state; undefined if everything was. */
async function keepUnshipped(
  { shared, machine, vault }: LeasedVault,
  copy: Vault,
  shipped: string,
): Promise<UnshippedChanges | undefined> {
  const changes = (await Array.fromAsync(copy.diff(shipped))).length
  if (changes === 0) return undefined
  const fork = await createUnshippedName(shared.store, vault)
  await shared.home.fork(vault, fork, { at: shipped })
  const stream = sendVault(machine.store, vault, { since: shipped, sinceFork: shipped })
  await receiveVault(shared.store, stream, { as: fork, sinceFork: shipped })
  return { vault, changes, fork }
}

async function createUnshippedName(store: StoreHome, vault: string): Promise<string> {
  for (let number = 1; ; number++) {
    const name = `${vault.slice(0, 40)}-unshipped-${number}`
    if (!(await store.hasVault(name))) return name
  }
}

function createLostError(vault: string, unshipped: UnshippedChanges | undefined): VfsError {
  const why = `another machine has taken '${vault}', because this one was silent for longer than its lease`
  const detail = unshipped === undefined ? why : `${why}; ${formatUnshipped(unshipped)}`
  return new VfsError('ECONFLICT', vault, { op: 'ship', detail })
}

/** Formats what happened to changes that were not shipped, and what to do with them. */
export function formatUnshipped({ vault, changes, fork }: UnshippedChanges): string {
  const paths = changes === 1 ? '1 changed path was' : `${changes} changed paths were`
  return `${paths} not shipped and are in the fork '${fork}': coppice diff --vault ${fork}, coppice merge ${fork} ${vault}`
}
