import { VfsError } from '../../../vfs/index.ts'
import type { Vault } from '../vault.ts'
import {
  createExchangeName,
  type Exchanged,
  type ExchangeOptions,
  findCommonCheckpoint,
  findVault,
  forgetCheckpoint,
  hasChangedSince,
  listExchangeNames,
  toTrackingName,
} from './exchange.ts'

/** Result of `fetchVault`. */
export interface FetchReport {
  /** The tracking fork: the vault as the other home has it. Merge it to get the changes. */
  readonly tracking: string
  /** True if the vault was not here: it is a fork of the tracking fork now. */
  readonly isNew: boolean
  /** True if the other home had changes. */
  readonly hasNews: boolean
}

/**
 * Brings the tracking fork of a vault up to what another home has, in proportion to the changes there. Creates the vault
 * if this home has none of its name. ENOENT if the other home has no such vault, EEXIST if this home has another vault
 * of the name.
 */
export async function fetchVault(exchanged: Exchanged, options: ExchangeOptions = {}): Promise<FetchReport> {
  const { home, vault, other, otherVault } = exchanged
  const theirs = await findVault(other, otherVault)
  if (theirs === undefined) throw createMissingError(exchanged)
  const tracking = toTrackingName(exchanged)
  const tracked = await openTrackingFork(exchanged, theirs)
  const mine = await findVault(home, vault)
  if (tracked === undefined) {
    if (mine !== undefined) throw createUnrelatedError(exchanged)
    await receiveTracking(exchanged, theirs, options)
    await home.fork(tracking, vault)
    return { tracking, isNew: true, hasNews: true }
  }
  const hasNews = await receiveNews(exchanged, tracked, theirs, options)
  if (mine === undefined) await home.fork(tracking, vault)
  return { tracking, isNew: mine === undefined, hasNews }
}

/** The state of a vault that this home has in common with another one. */
export interface TrackedState {
  /** The tracking fork in this home. */
  readonly tracking: string
  /** The checkpoint of the state, in the tracking fork and in the vault of the other home. */
  readonly common: string
}

/**
 * Brings the tracking fork of a vault up to what another home has, and returns the state that both have then. ENOENT if
 * the other home has no such vault, EEXIST if the tracking fork is of another vault.
 */
export async function fetchTracking(
  exchanged: Exchanged,
  options: ExchangeOptions = {},
): Promise<TrackedState> {
  const theirs = await findVault(exchanged.other, exchanged.otherVault)
  if (theirs === undefined) throw createMissingError(exchanged)
  const tracked = await openTrackingFork(exchanged, theirs)
  if (tracked === undefined) await receiveTracking(exchanged, theirs, options)
  else if (!(await receiveNews(exchanged, tracked, theirs, options)))
    return { tracking: tracked.fork.name, common: tracked.common }
  const latest = await openTrackingFork(exchanged, theirs)
  if (latest === undefined) throw createUnrelatedError(exchanged)
  return { tracking: latest.fork.name, common: latest.common }
}

/**
 * Opens the tracking fork at a state that the other home has, too: an exchange that was interrupted may have left it
 * ahead. Undefined if there is none.
 */
export async function openTrackingFork(
  exchanged: Exchanged,
  theirs: Vault,
): Promise<{ readonly fork: Vault; readonly common: string } | undefined> {
  const fork = await findVault(exchanged.home, toTrackingName(exchanged))
  if (fork === undefined) return undefined
  const common = await findCommonCheckpoint(fork, theirs)
  if (common === undefined) throw createUnrelatedError(exchanged)
  if (await hasChangedSince(fork, common)) await fork.restore(common)
  for (const name of await listExchangeNames(fork)) if (name !== common) await fork.removeCheckpoint(name)
  return { fork, common }
}

/** Receives what the other home changed since the common state; false if it changed nothing. */
async function receiveNews(
  exchanged: Exchanged,
  { fork, common }: { readonly fork: Vault; readonly common: string },
  theirs: Vault,
  options: ExchangeOptions,
): Promise<boolean> {
  if (!(await hasChangedSince(theirs, common))) return false
  await receiveTracking(exchanged, theirs, { ...options, since: common })
  await forgetCheckpoint(common, [fork, theirs])
  return true
}

/** Receives the vault of the other home, or its changes since a checkpoint, as the tracking fork. */
async function receiveTracking(
  exchanged: Exchanged,
  theirs: Vault,
  { signal, onProgress, since }: ExchangeOptions & { readonly since?: string },
): Promise<void> {
  const { home, other, otherVault } = exchanged
  const checkpoint = createExchangeName()
  await theirs.checkpoint(checkpoint)
  try {
    const stream = other.send(otherVault, { checkpoint, ...(since !== undefined && { since }) })
    const as = toTrackingName(exchanged)
    await home.receive(stream, { as, ...(onProgress && { onProgress }), ...(signal && { signal }) })
  } catch (error) {
    await forgetCheckpoint(checkpoint, [theirs])
    throw error
  }
}

function createMissingError({ otherVault, location }: Exchanged): VfsError {
  const detail = `there is no vault '${otherVault}' in ${location}; name one that is there`
  return new VfsError('ENOENT', otherVault, { op: 'pull', detail })
}

/** Creates EEXIST for vaults of one name that have never been exchanged. */
export function createUnrelatedError({ vault, otherVault, location }: Exchanged): VfsError {
  const detail = `'${vault}' here and '${otherVault}' in ${location} have no state in common; choose another name with --as`
  return new VfsError('EEXIST', vault, { op: 'exchange', detail })
}
