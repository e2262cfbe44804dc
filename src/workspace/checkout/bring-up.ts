import { randomBytes } from 'node:crypto'
import { readFile } from 'node:fs/promises'
import { isVfsError } from '../../vfs/index.ts'
import type { CheckoutHome } from './checkout-home.ts'
import { refresh, renew } from './refresh.ts'
import type { Slot, SlotState } from './slot.ts'

/** The name of a vault that is kept for a slot: it has the files that are checked out there. */
const RECORD = /^checkout-([0-9a-f]{12})-[0-9a-f]{8}$/

/** A vault that is to be checked out. */
export interface Wanted {
  readonly vault: string
  readonly origin: string
  readonly signal: AbortSignal | undefined
}

/** Makes a slot hold a vault as it is now, and returns what it holds then. If it fails, the slot holds nothing. */
export async function bringUp(home: CheckoutHome, slot: Slot, wanted: Wanted): Promise<SlotState> {
  const boot = await bootId()
  const before = await usable(home, await slot.state(), boot)
  if (before !== undefined && (await home.touchedPaths(before.vault, wanted.vault)).length === 0)
    return before
  await slot.begin()
  const vault = `${recordPrefix(slot)}${randomBytes(4).toString('hex')}`
  await home.fork(wanted.vault, vault)
  if (before === undefined || !(await isRefreshed(home, slot, before.vault, vault)))
    await renew(home, slot.tree, vault, wanted.signal)
  const { bytes } = await home.info(vault)
  const state = { vault, origin: wanted.origin, bytes, boot }
  await slot.finish(state)
  await dropRecords(home, slot, vault)
  return state
}

/** Deletes the vaults that are kept for a slot, but for one. */
export async function dropRecords(home: CheckoutHome, slot: Slot, kept?: string): Promise<void> {
  for (const name of await home.vaults()) {
    if (name.startsWith(recordPrefix(slot)) && name !== kept) await dropRecord(home, name)
  }
}

/** Whether a vault is kept for a slot. */
export function isRecord(vault: string): boolean {
  return RECORD.test(vault)
}

/** Deletes those of some vaults that are kept for slots which are not there. */
export async function dropOrphans(
  home: CheckoutHome,
  vaults: readonly string[],
  slots: readonly Slot[],
): Promise<void> {
  const known = new Set(slots.map(({ id }) => id))
  for (const name of vaults) {
    const [, id] = RECORD.exec(name) ?? []
    if (id !== undefined && !known.has(id)) await dropRecord(home, name)
  }
}

async function dropRecord(home: CheckoutHome, name: string): Promise<void> {
  try {
    await home.deleteVault(name)
  } catch (error) {
    // Another who looks after the same checkouts was quicker.
    if (!isVfsError(error, 'ENOENT')) throw error
  }
}

function recordPrefix({ id }: Slot): string {
  return `checkout-${id}-`
}

async function usable(
  home: CheckoutHome,
  state: SlotState | undefined,
  boot: string,
): Promise<SlotState | undefined> {
  // Nothing was forced to disk: after a power cut, files may be there without their content.
  if (state?.boot !== boot) return undefined
  try {
    await home.info(state.vault)
    return state
  } catch (error) {
    if (!isVfsError(error, 'ENOENT')) throw error
    return undefined
  }
}

/** False if something is in the way, such as a link, or a directory its owner may not write in: all is made anew. */
async function isRefreshed(home: CheckoutHome, slot: Slot, before: string, after: string): Promise<boolean> {
  try {
    await refresh(home, slot.tree, before, after)
    return true
  } catch (error) {
    if (isVfsError(error) && error.code !== 'ECONFLICT') throw error
    return false
  }
}

/** What differs after every start of the machine, where it tells. */
async function bootId(): Promise<string> {
  return readFile('/proc/sys/kernel/random/boot_id', 'utf8').catch(() => '')
}
