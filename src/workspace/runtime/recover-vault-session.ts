import { join } from 'node:path'
import { CleanupStack, createProcessTag, type TaggedDirectory } from '../../machine/index.ts'
import { SecretFiles } from '../../secrets/index.ts'
import { isVfsError } from '../../vfs/index.ts'
import { Checkouts } from '../checkout/index.ts'
import {
  deleteSessionFork,
  ForkPoint,
  forkByName,
  forkByNumber,
  importSession,
  isSameAt,
  isSessionForkName,
  removeEntry,
} from '../link/index.ts'
import { readLeftSession, removeTree, type SessionChange } from '../session/index.ts'
import { ForkCopies } from './fork-copies.ts'
import { listLeftOut } from './kept-changes.ts'
import { listLiveChanges } from './live-fork.ts'
import { createMaskSettings } from './mask-settings.ts'
import type { RecoveredFork } from './recover-left-forks.ts'
import { restoreMaskedChanges } from './restore-masked-changes.ts'
import { filterTouched, SessionMask } from './session-mask.ts'
import type { VaultSessionRecord } from './session-record.ts'
import type { WorkspaceHome } from './workspace-home.ts'

/** A killed command in a vault. */
interface LeftCommand {
  readonly home: WorkspaceHome
  /** Directory of the home. */
  readonly path: string
  /** The files of its session. */
  readonly tagged: TaggedDirectory
  readonly record: VaultSessionRecord
}

/** A vault with the files as a killed command left them, and paths that no vault can keep. */
interface LeftVault {
  readonly vault: string
  readonly leftOut: readonly string[]
}

/** The vault into which the changes are merged. */
interface RecoveryTarget {
  readonly vault: string
  /** Name by which the user knows it. */
  readonly fork: string
  /** Vault whose state is saved if changes of others are replaced; absent if another vault has these. */
  readonly saved?: string
  /** Brings the changes to the database. */
  readonly publish?: () => Promise<void>
}

/**
 * Stores the changes of a killed command in a fork of its vault, or in the vault that it ran in: merged with what others
 * changed there meanwhile, in one commit.
 */
export async function recoverVaultSession(left: LeftCommand): Promise<RecoveredFork> {
  const { home, path, tagged, record } = left
  const outcome = record.stored ?? (await storeLeftVault(left))
  const copies = new ForkCopies(path, () => home.vaults())
  const isKept = outcome.changes > 0
  if (record.copies !== undefined && isKept) copies.adopt(record.copies, outcome.fork)
  tagged.removeRecord()
  if (record.live !== undefined) await deleteSessionFork(home, record.live)
  await ForkPoint.adopt(home, record.point)[Symbol.asyncDispose]()
  if (isKept) await copies.tidy(outcome.fork)
  return outcome
}

/** Merges the changes into a vault, and records the outcome: once more would replace what others change from then on. */
async function storeLeftVault(left: LeftCommand): Promise<RecoveredFork> {
  await using cleanup = new CleanupStack()
  const { vault, leftOut } = await openLeftVault(left, cleanup)
  const changes = await countChanges(left, vault)
  if (changes === 0) return { fork: left.record.fork, changes, leftOut }
  const target = await openTarget(left, cleanup)
  const checkpoint = await mergeLeftVault(left, vault, target)
  await target.publish?.()
  const outcome = { fork: target.fork, changes, leftOut, checkpoint }
  left.tagged.writeRecord({ ...left.record, stored: outcome })
  return outcome
}

/** Opens the vault that the command changed, or one into which the changes of its session are imported. */
async function openLeftVault(left: LeftCommand, cleanup: CleanupStack): Promise<LeftVault> {
  const { home, path, tagged, record } = left
  const { point, live, files } = record
  if (live !== undefined) return openLiveVault(left, live)
  if (files.kind === 'fuse') throw new Error(`${tagged.path} names no vault with the changes`)
  const scratch = cleanup.use(await ForkPoint.create(home, point)).vault
  // The same files as the session began with: another process may have changed the checkout of that one.
  const checkout = cleanup.use(await new Checkouts(home, join(path, 'checkouts')).acquire(point))
  const session = { path: tagged.path, directory: checkout.path, files }
  return readLeftSession(session, async (found) => {
    const changes = await restoreChanges(left, found, checkout.path, cleanup)
    await importSession(await home.posix(scratch, { by: record.by }), changes)
    return { vault: scratch, leftOut: listLeftOut(changes, changes) }
  })
}

async function openLiveVault({ home, record }: LeftCommand, live: string): Promise<LeftVault> {
  // The last changes may be in the side log of the killed process only; reads do not look there.
  await home.sync()
  const changes = await listLiveChanges(home, { base: record.point, vault: live })
  const leftOut = listLeftOut(changes, changes)
  // No kind of session keeps pipes, sockets and devices.
  const tree = await home.posix(live)
  for (const path of leftOut) removeEntry(tree, path)
  return { vault: live, leftOut }
}

/** Returns the changes with real values in place of placeholders. A vault has the real values. */
async function restoreChanges(
  { path, record }: LeftCommand,
  found: readonly SessionChange[],
  lower: string,
  cleanup: CleanupStack,
): Promise<readonly SessionChange[]> {
  if (record.mask === undefined) return found
  const { patterns, scope, staged } = record.mask
  const settings = createMaskSettings(path, { files: new SecretFiles(patterns) })
  const mask = await SessionMask.create(settings, scope, { lower, staged: [] })
  const directory = join(path, 'sessions', createProcessTag())
  cleanup.defer(() => removeTree(directory))
  return restoreMaskedChanges(filterTouched(found, staged), mask, directory)
}

/**
 * Counts the paths that the command touched, also those with nothing but another mode or time. Returns 0 if no fork was
 * named, and only times changed.
 */
async function countChanges({ home, record }: LeftCommand, vault: string): Promise<number> {
  const { point, newFork } = record
  const paths = await home.listTouchedPaths(point, vault)
  const keepsTimes = newFork === undefined || newFork.name !== undefined
  if (!keepsTimes && isSameAt(await home.posix(point), await home.posix(vault), paths)) return 0
  return paths.filter((path) => path !== '/').length
}

/** Returns the vault that gets the changes, and creates a fork if there is none. */
async function openTarget(left: LeftCommand, cleanup: CleanupStack): Promise<RecoveryTarget> {
  const { home, record } = left
  const { vault, copyOf, newFork, created, point } = record
  if (copyOf !== undefined) return openSharedTarget(left, copyOf, cleanup)
  const vaults = await home.vaults()
  const known = newFork === undefined ? vault : created
  // A fork of a process that has ended is deleted by a sweep.
  const isKept = known !== undefined && vaults.includes(known) && !isSessionForkName(known)
  const fork = isKept ? known : await createFork(left, vault, { baseOf: point })
  return { vault: fork, fork, saved: fork }
}

/**
 * Returns the vault that gets the changes of a command in a vault of a database: a new copy of it, or a fork of that,
 * since nothing of the killed process keeps its old copy in step.
 */
async function openSharedTarget(
  left: LeftCommand,
  copyOf: string,
  cleanup: CleanupStack,
): Promise<RecoveryTarget> {
  const { home, record } = left
  const { newFork, created, by } = record
  const known = newFork === undefined ? copyOf : created
  if (known !== undefined && (await home.vaults()).includes(known)) {
    const copy = await home.openMachineCopy(known)
    if (copy !== undefined) {
      cleanup.use(copy)
      return { vault: copy.vault, fork: known, saved: known, publish: () => copy.merge(by) }
    }
    await deleteUnpublished(home, known, copyOf)
  }
  const copy = await home.openMachineCopy(copyOf)
  if (copy === undefined) throw new Error(`'${copyOf}' is in use on this machine; unmount it first`)
  cleanup.use(copy)
  const fork = await createFork(left, copy.vault, {})
  return { vault: fork, fork, publish: () => copy.publishFork(fork) }
}

/**
 * Deletes a fork that did not get into the database: the session has its changes. Deletes also the empty fork that the
 * attempt left there, so that its name is free, unless somebody changed it since.
 */
async function deleteUnpublished(home: WorkspaceHome, fork: string, source: string): Promise<void> {
  await home.deleteVault(fork)
  if (!(await home.vaults()).includes(fork)) return
  const { from, changes } = await home.info(fork)
  if (from?.vault === source && changes === 0) await home.deleteVault(fork)
}

/** Creates a fork under the name that was asked for, and records it: after a kill it gets the changes. */
async function createFork(
  { home, tagged, record }: LeftCommand,
  source: string,
  options: { readonly baseOf?: string },
): Promise<string> {
  const { name, stem = record.copyOf ?? source } = record.newFork ?? {}
  const fork =
    name === undefined || isSessionForkName(name)
      ? await forkByNumber(home, source, stem, options)
      : await forkByName(home, source, name, options)
  tagged.writeRecord({ ...record, created: fork.name })
  return fork.name
}

/**
 * Merges the files of a killed command into a vault. Returns the checkpoint with the versions of others that it replaced;
 * undefined if there are none.
 */
async function mergeLeftVault(
  { home, record: { by } }: LeftCommand,
  left: string,
  { vault, saved }: RecoveryTarget,
): Promise<string | undefined> {
  try {
    await home.merge(left, vault, { ...by, onConflict: 'fail' })
    return undefined
  } catch (error) {
    if (!isVfsError(error, 'ECONFLICT')) throw error
  }
  const checkpoint = saved === undefined ? undefined : await (await home.vault(saved)).checkpoint()
  await home.merge(left, vault, { ...by, onConflict: 'theirs' })
  return checkpoint?.name
}
