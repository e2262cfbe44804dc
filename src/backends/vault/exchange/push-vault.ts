import { isVfsError, type PathChange, VfsError } from '../../../vfs/index.ts'
import type { Vault } from '../vault.ts'
import {
  createExchangeName,
  type Exchanged,
  type ExchangeOptions,
  findVault,
  forgetCheckpoint,
  toTrackingName,
} from './exchange.ts'
import { createUnrelatedError, fetchVault, openTrackingFork } from './fetch-vault.ts'

/** Result of `pushVault`. */
export interface PushReport {
  /** True if the other home had no such vault. */
  readonly isNew: boolean
  /** Changes that the other home got; empty for a new vault, which it got whole. */
  readonly changes: readonly PathChange[]
}

/**
 * Sends a vault, or its changes, to another home. All or nothing: the other home sees the whole or the state before.
 * ECONFLICT if the other home has changes that this one has not merged, ENOENT if there is no such vault here, EEXIST if the
 * other home has another vault of the name.
 */
export async function pushVault(exchanged: Exchanged, options: ExchangeOptions = {}): Promise<PushReport> {
  const { home, vault, other, otherVault } = exchanged
  // Before anything is created: a misspelt name must leave nothing behind.
  await home.vault(vault)
  const theirs = await findVault(other, otherVault)
  if (theirs === undefined) {
    await pushWhole(exchanged, options)
    return { isNew: true, changes: [] }
  }
  if ((await openTrackingFork(exchanged, theirs)) === undefined) throw createUnrelatedError(exchanged)
  await fetchVault(exchanged, options)
  await assertMerged(exchanged)
  return { isNew: false, changes: await pushChanges(exchanged, theirs, options) }
}

async function pushWhole(exchanged: Exchanged, { signal, onProgress }: ExchangeOptions): Promise<void> {
  const { home, vault, other, otherVault } = exchanged
  const tracking = toTrackingName(exchanged)
  // A tracking fork is left from a vault that the other home had and has deleted.
  if ((await findVault(home, tracking)) !== undefined) await home.deleteVault(tracking)
  const fork = await home.fork(vault, tracking)
  const checkpoint = createExchangeName()
  await fork.checkpoint(checkpoint)
  const stream = home.send(tracking, { checkpoint, ...(onProgress && { onProgress }) })
  await other.receive(stream, { as: otherVault, ...(signal && { signal }) })
}

/** Merges the vault into the tracking fork, and sends that. If it is not received, the next exchange takes it back. */
async function pushChanges(
  exchanged: Exchanged,
  theirs: Vault,
  { signal, onProgress }: ExchangeOptions,
): Promise<readonly PathChange[]> {
  const { home, vault, other, otherVault } = exchanged
  const tracking = toTrackingName(exchanged)
  const tracked = await openTrackingFork(exchanged, theirs)
  if (tracked === undefined) throw createUnrelatedError(exchanged)
  const changes = await home.merge(vault, tracking)
  if (changes.length === 0) return changes
  const { fork, common } = tracked
  const checkpoint = createExchangeName()
  await fork.checkpoint(checkpoint)
  try {
    const stream = home.send(tracking, { checkpoint, since: common, ...(onProgress && { onProgress }) })
    await other.receive(stream, { as: otherVault, ...(signal && { signal }) })
  } catch (error) {
    throw isVfsError(error, 'ECONFLICT') ? createBehindError(exchanged) : error
  }
  await forgetCheckpoint(common, [fork, theirs])
  return changes
}

/** Throws ECONFLICT if the other home has changes that are not merged here: a push would undo them. */
async function assertMerged(exchanged: Exchanged): Promise<void> {
  const { home, vault } = exchanged
  const missing = await home
    .merge(toTrackingName(exchanged), vault, { isTrial: true })
    .catch((error: unknown) => {
      if (isVfsError(error, 'ECONFLICT')) throw createBehindError(exchanged)
      throw error
    })
  if (missing.length > 0) throw createBehindError(exchanged)
}

function createBehindError({ vault, location }: Exchanged): VfsError {
  const detail = `${location} has changes of '${vault}' that are not here; pull them first`
  return new VfsError('ECONFLICT', vault, { op: 'push', detail })
}
