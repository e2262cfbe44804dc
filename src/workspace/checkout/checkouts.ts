import { Mutex } from '../../machine/index.ts'
import { isVfsError } from '../../vfs/index.ts'
import type { CheckoutHome, CheckoutOptions } from './checkout-home.ts'
import { Slot, type SlotState } from './slot.ts'
import {
  type CheckoutRequest,
  deleteOrphans,
  deleteRecords,
  isRecordVault,
  updateSlot,
} from './update-slot.ts'

/** Limits on idle checkouts: their number, and their total size. The most recently used one always stays. */
const MAX_IDLE = 4
const MAX_IDLE_BYTES = 8 * 2 ** 30
/** A checkout that differs in more paths, and in more than this part of the files of a vault, is left to others. */
const FEW_PATHS = 1000
const FEW_OF_ALL = 0.25

/** The files of a vault in a directory of this machine. They do not change until the checkout is disposed. */
export interface Checkout extends AsyncDisposable {
  readonly path: string
  /** A vault with the same files, which never changes. */
  readonly vault: string
}

/** A checkout of this process, with the number of its users. */
interface HeldCheckout {
  readonly slot: Slot
  readonly state: SlotState
  users: number
}

/** The checkouts of a home, below one directory of this machine. */
export class Checkouts {
  readonly #home: CheckoutHome
  readonly #directory: string
  readonly #held = new Set<HeldCheckout>()
  readonly #mutex = new Mutex()

  constructor(home: CheckoutHome, directory: string) {
    this.#home = home
    this.#directory = directory
  }

  /**
   * Checks out the current state of a vault. O(changes) if a checkout of it or of a vault with the same origin is
   * free, otherwise O(files). Throws ENOENT if the vault does not exist.
   */
  async acquire(vault: string, options: CheckoutOptions = {}): Promise<Checkout> {
    const held = await this.#mutex.run(async () => {
      const wanted = { ...options, vault, origin: await this.#findOrigin(vault) }
      const found = (await this.#findShared(wanted)) ?? (await this.#acquireSlot(wanted))
      found.users++
      this.#held.add(found)
      return found
    })
    return {
      path: held.slot.tree,
      vault: held.state.vault,
      [Symbol.asyncDispose]: () => this.#mutex.run(() => this.#release(held)),
    }
  }

  /**
   * Removes free checkouts whose related vaults are all deleted, those beyond the limits, incomplete ones, and the vaults
   * kept for them. Returns the numbers of both.
   */
  sweep(): Promise<{ readonly slots: number; readonly vaults: number }> {
    return this.#mutex.run(async () => {
      const slots = (await Slot.list(this.#directory)).length
      const vaults = await this.#countRecords()
      const free = await this.#listFree()
      const origins = free.length === 0 ? new Set() : await this.#listOrigins()
      for (const { slot, state } of free) {
        if (!origins.has(state.origin) && (await slot.claim())) await this.#remove(slot)
      }
      await this.#evictIdle()
      return {
        slots: slots - (await Slot.list(this.#directory)).length,
        vaults: vaults - (await this.#countRecords()),
      }
    })
  }

  async #countRecords(): Promise<number> {
    return (await this.#home.vaults()).filter(isRecordVault).length
  }

  /** Returns the origins of all vaults except those kept for checkouts. */
  async #listOrigins(): Promise<Set<string>> {
    const origins = new Set<string>()
    for (const vault of await this.#home.vaults()) {
      if (!isRecordVault(vault)) origins.add(await this.#findOrigin(vault))
    }
    return origins
  }

  /** Finds a checkout of this process with the same files, to share it. */
  async #findShared({ vault, origin }: CheckoutRequest): Promise<HeldCheckout | undefined> {
    for (const held of this.#held) {
      if (held.state.origin !== origin) continue
      if ((await this.#home.listTouchedPaths(held.state.vault, vault)).length === 0) return held
    }
    return undefined
  }

  async #acquireSlot(wanted: CheckoutRequest): Promise<HeldCheckout> {
    const slot = (await this.#claimSlot(wanted)) ?? (await Slot.create(this.#directory))
    try {
      return { slot, state: await updateSlot(this.#home, slot, wanted), users: 0 }
    } catch (error) {
      await this.#remove(slot)
      throw error
    }
  }

  /**
   * Claims the free slot of a vault with the same origin that differs least. None if even that one differs much and
   * there is room for another: two forks that are used in turn would undo each other's checkout.
   */
  async #claimSlot({ vault, origin }: CheckoutRequest): Promise<Slot | undefined> {
    const free = await this.#listFree()
    const related = free.filter(({ state }) => state.origin === origin)
    const measured = await Promise.all(
      related.map(async ({ slot, state }) => ({ slot, paths: await this.#countTouched(state.vault, vault) })),
    )
    const { files } = await this.#home.info(vault)
    const limit = free.length < MAX_IDLE ? Math.max(FEW_PATHS, files * FEW_OF_ALL) : Number.POSITIVE_INFINITY
    for (const { slot, paths } of measured.sort((one, other) => one.paths - other.paths)) {
      if (paths <= limit && (await slot.claim())) return slot
    }
    return undefined
  }

  async #countTouched(before: string, after: string): Promise<number> {
    try {
      return (await this.#home.listTouchedPaths(before, after)).length
    } catch (error) {
      // The vault of an incomplete checkout: it is filled from scratch.
      if (!isVfsError(error, 'ENOENT')) throw error
      return 0
    }
  }

  async #release(held: HeldCheckout): Promise<void> {
    if (--held.users > 0) return
    this.#held.delete(held)
    await held.slot.release()
    await this.#evictIdle()
  }

  /** Removes checkouts beyond the limits, incomplete ones, and vaults kept for removed checkouts. */
  async #evictIdle(): Promise<void> {
    let [count, bytes] = [0, 0]
    for (const { slot, state } of await this.#listFree()) {
      count++
      bytes += state.bytes
      const isTooMuch = count > 1 && (count > MAX_IDLE || bytes > MAX_IDLE_BYTES)
      if (isTooMuch && (await slot.claim())) await this.#remove(slot)
    }
    // A slot exists before its vault does, so the slots are listed after the vaults.
    const vaults = await this.#home.vaults()
    const slots = await Slot.list(this.#directory)
    for (const slot of slots) {
      if ((await slot.isAbandoned()) && (await slot.claim())) await this.#remove(slot)
    }
    await deleteOrphans(this.#home, vaults, slots)
  }

  /** Lists free checkouts, most recently used first. */
  async #listFree(): Promise<{ readonly slot: Slot; readonly usedMs: number; readonly state: SlotState }[]> {
    const slots = await Slot.list(this.#directory)
    const inspected = await Promise.all(slots.map(async (slot) => ({ slot, found: await slot.inspect() })))
    return inspected
      .flatMap(({ slot, found }) => (found === undefined ? [] : [{ slot, ...found }]))
      .sort((one, other) => other.usedMs - one.usedMs)
  }

  async #remove(slot: Slot): Promise<void> {
    await slot.remove()
    await deleteRecords(this.#home, slot)
  }

  /** Returns the oldest known ancestor of a vault. */
  async #findOrigin(vault: string): Promise<string> {
    const { from } = await this.#home.info(vault)
    if (from === undefined) return vault
    try {
      return await this.#findOrigin(from.vault)
    } catch (error) {
      if (!isVfsError(error, 'ENOENT')) throw error
      return from.vault
    }
  }
}
