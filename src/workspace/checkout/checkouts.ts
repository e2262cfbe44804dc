import { isVfsError } from '../../vfs/index.ts'
import { Turns } from '../session/index.ts'
import { bringUp, dropOrphans, dropRecords, isRecord, type Wanted } from './bring-up.ts'
import type { CheckoutHome } from './checkout-home.ts'
import { Slot, type SlotState } from './slot.ts'

/** How many checkouts are kept that nobody uses, and how much they may hold together; the last used one always is. */
const MOST_KEPT = 4
const MOST_BYTES = 8 * 2 ** 30

/** The files of a vault in a directory of this machine, which stay as they are until it is disposed of. */
export interface Checkout extends AsyncDisposable {
  readonly path: string
  /** A vault with the same files, which is never changed. */
  readonly vault: string
}

/** A checkout that this process has, and how many use it. */
interface Held {
  readonly slot: Slot
  readonly state: SlotState
  users: number
}

/** The checkouts of a home, in a directory of this machine. */
export class Checkouts {
  readonly #home: CheckoutHome
  readonly #directory: string
  readonly #held = new Set<Held>()
  readonly #turns = new Turns()

  constructor(home: CheckoutHome, directory: string) {
    this.#home = home
    this.#directory = directory
  }

  /**
   * Checks a vault out as it is now. O(changes) since it, or a vault of the same origin, was checked out; O(files) if
   * none was that is free. ENOENT.
   */
  async take(vault: string, signal?: AbortSignal): Promise<Checkout> {
    const held = await this.#turns.take(async () => {
      const wanted = { vault, origin: await this.#originOf(vault), signal }
      const found = (await this.#shared(wanted)) ?? (await this.#own(wanted))
      found.users++
      this.#held.add(found)
      return found
    })
    return {
      path: held.slot.tree,
      vault: held.state.vault,
      [Symbol.asyncDispose]: () => this.#turns.take(() => this.#leave(held)),
    }
  }

  /** Removes the checkouts of which no relative is left, and what is kept for them. Returns how many that were. */
  sweep(): Promise<{ readonly slots: number; readonly vaults: number }> {
    return this.#turns.take(async () => {
      const slots = (await Slot.all(this.#directory)).length
      const vaults = await this.#countRecords()
      const free = await this.#free()
      const origins = free.length === 0 ? new Set() : await this.#origins()
      for (const { slot, state } of free) {
        if (!origins.has(state.origin) && (await slot.claim())) await this.#remove(slot)
      }
      await this.#trim()
      return {
        slots: slots - (await Slot.all(this.#directory)).length,
        vaults: vaults - (await this.#countRecords()),
      }
    })
  }

  async #countRecords(): Promise<number> {
    return (await this.#home.vaults()).filter(isRecord).length
  }

  /** The origins of all vaults but those that are kept for checkouts. */
  async #origins(): Promise<Set<string>> {
    const origins = new Set<string>()
    for (const vault of await this.#home.vaults()) {
      if (!isRecord(vault)) origins.add(await this.#originOf(vault))
    }
    return origins
  }

  /** What this process has already with the same files: nobody changes those meanwhile. */
  async #shared({ vault, origin }: Wanted): Promise<Held | undefined> {
    for (const held of this.#held) {
      if (held.state.origin !== origin) continue
      if ((await this.#home.touchedPaths(held.state.vault, vault)).length === 0) return held
    }
    return undefined
  }

  async #own(wanted: Wanted): Promise<Held> {
    const slot = (await this.#claimed(wanted.origin)) ?? (await Slot.create(this.#directory))
    try {
      return { slot, state: await bringUp(this.#home, slot, wanted), users: 0 }
    } catch (error) {
      await this.#remove(slot)
      throw error
    }
  }

  /** The slot that was last used for a relative, if it is free. */
  async #claimed(origin: string): Promise<Slot | undefined> {
    for (const { slot, state } of await this.#free()) {
      if (state.origin === origin && (await slot.claim())) return slot
    }
    return undefined
  }

  async #leave(held: Held): Promise<void> {
    if (--held.users > 0) return
    this.#held.delete(held)
    await held.slot.release()
    await this.#trim()
  }

  /** Removes what is too much, what nobody finished, and what is kept for a checkout that is gone. */
  async #trim(): Promise<void> {
    let [count, bytes] = [0, 0]
    for (const { slot, state } of await this.#free()) {
      count++
      bytes += state.bytes
      const isTooMuch = count > 1 && (count > MOST_KEPT || bytes > MOST_BYTES)
      if (isTooMuch && (await slot.claim())) await this.#remove(slot)
    }
    // A slot is there before what is kept for it: so it is looked for afterwards.
    const vaults = await this.#home.vaults()
    const slots = await Slot.all(this.#directory)
    for (const slot of slots) {
      if ((await slot.isAbandoned()) && (await slot.claim())) await this.#remove(slot)
    }
    await dropOrphans(this.#home, vaults, slots)
  }

  /** What nobody has, the last used first. */
  async #free(): Promise<{ readonly slot: Slot; readonly used: number; readonly state: SlotState }[]> {
    const slots = await Slot.all(this.#directory)
    const looks = await Promise.all(slots.map(async (slot) => ({ slot, look: await slot.look() })))
    return looks
      .flatMap(({ slot, look }) => (look === undefined ? [] : [{ slot, ...look }]))
      .sort((one, other) => other.used - one.used)
  }

  async #remove(slot: Slot): Promise<void> {
    await slot.remove()
    await dropRecords(this.#home, slot)
  }

  /** The oldest vault that is known of those a vault grew from. */
  async #originOf(vault: string): Promise<string> {
    const { from } = await this.#home.info(vault)
    if (from === undefined) return vault
    try {
      return await this.#originOf(from.vault)
    } catch (error) {
      if (!isVfsError(error, 'ENOENT')) throw error
      return from.vault
    }
  }
}
