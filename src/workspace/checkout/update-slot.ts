import { randomBytes } from 'node:crypto'
import { readFile } from 'node:fs/promises'
import { isVfsError } from '../../vfs/index.ts'
import type { CheckoutHome, CheckoutOptions } from './checkout-home.ts'
import { recreate, refresh } from './refresh.ts'
import type { Slot, SlotState } from './slot.ts'

/** Name of a vault kept for a slot. It has the files of the checkout there. */
const RECORD_NAME = /^checkout-([0-9a-f]{12})-[0-9a-f]{8}$/

/** A vault to check out. */
export interface CheckoutRequest extends CheckoutOptions {
  readonly vault: string
  readonly origin: string
}

/**
 * Updates a slot to the current state of a vault, and returns the slot's state. If it fails while it writes, the slot
 * stays incomplete.
 */
export async function updateSlot(
  home: CheckoutHome,
  slot: Slot,
  wanted: CheckoutRequest,
): Promise<SlotState> {
  const boot = await readBootId()
  const before = await findUsableState(home, await slot.readState(), boot)
  if (before !== undefined && (await home.listTouchedPaths(before.vault, wanted.vault)).length === 0)
    return before
  await slot.markIncomplete()
  const vault = `${getRecordPrefix(slot)}${randomBytes(4).toString('hex')}`
  await home.fork(wanted.vault, vault)
  if (before === undefined || !(await tryRefresh(home, slot, before.vault, vault)))
    await recreate(home, slot.tree, vault, wanted)
  const { bytes } = await home.info(vault)
  const state = { vault, origin: wanted.origin, bytes, boot }
  await slot.finish(state)
  await deleteRecords(home, slot, vault)
  return state
}

/** Deletes the vaults kept for a slot, except one. */
export async function deleteRecords(home: CheckoutHome, slot: Slot, kept?: string): Promise<void> {
  for (const name of await home.vaults()) {
    if (name.startsWith(getRecordPrefix(slot)) && name !== kept) await deleteRecord(home, name)
  }
}

/** True if a vault is kept for a slot. */
export function isRecordVault(vault: string): boolean {
  return RECORD_NAME.test(vault)
}

/** Deletes those of the given vaults that are kept for missing slots. */
export async function deleteOrphans(
  home: CheckoutHome,
  vaults: readonly string[],
  slots: readonly Slot[],
): Promise<void> {
  const known = new Set(slots.map(({ id }) => id))
  for (const name of vaults) {
    const [, id] = RECORD_NAME.exec(name) ?? []
    if (id !== undefined && !known.has(id)) await deleteRecord(home, name)
  }
}

async function deleteRecord(home: CheckoutHome, name: string): Promise<void> {
  try {
    await home.deleteVault(name)
  } catch (error) {
    // Another process deleted it first.
    if (!isVfsError(error, 'ENOENT')) throw error
  }
}

function getRecordPrefix({ id }: Slot): string {
  return `checkout-${id}-`
}

async function findUsableState(
  home: CheckoutHome,
  state: SlotState | undefined,
  boot: string,
): Promise<SlotState | undefined> {
  // Checkouts are not synced to disk. After a power cut, a file may exist without its content.
  if (state?.boot !== boot) return undefined
  try {
    await home.info(state.vault)
    return state
  } catch (error) {
    if (!isVfsError(error, 'ENOENT')) throw error
    return undefined
  }
}

/**
 * Updates the files of a slot in place. Returns false if an obstacle, such as a link or an unwritable directory,
 * prevents that. The slot is then filled from scratch.
 */
async function tryRefresh(home: CheckoutHome, slot: Slot, before: string, after: string): Promise<boolean> {
  try {
    await refresh(home, slot.tree, before, after)
    return true
  } catch (error) {
    if (isVfsError(error) && error.code !== 'ECONFLICT') throw error
    return false
  }
}

/** Returns the id of this boot of the machine, where the system has one. */
async function readBootId(): Promise<string> {
  return readFile('/proc/sys/kernel/random/boot_id', 'utf8').catch(() => '')
}
