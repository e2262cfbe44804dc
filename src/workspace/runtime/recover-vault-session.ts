import { join } from 'node:path'
import { CleanupStack, createProcessTag, type TaggedDirectory } from '../../machine/index.ts'
import { SecretFiles } from '../../secrets/index.ts'
import { isVfsError } from '../../vfs/index.ts'
import { Checkouts } from '../checkout/index.ts'
import {
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

/**
 * Stores the changes of a killed command in a fork of its vault, or in the vault that it ran in: merged with what others
 * changed there meanwhile, in one commit.
 */
export async function recoverVaultSession(left: LeftCommand): Promise<RecoveredFork> {
  const { home, path, tagged, record } = left
  await using cleanup = new CleanupStack()
  const { vault, leftOut } = await openLeftVault(left, cleanup)
  const changes = await countChanges(home, record.point, vault)
  const isKept = changes > 0 && !(await isUnchanged(left, vault))
  const fork = isKept ? await openTarget(left) : undefined
  const checkpoint = fork === undefined ? undefined : await mergeLeftVault(left, vault, fork)
  const copies = new ForkCopies(path, () => home.vaults())
  if (record.copies !== undefined && fork !== undefined) copies.adopt(record.copies, fork)
  tagged.removeRecord()
  if (record.live !== undefined) await home.deleteVault(record.live)
  await ForkPoint.adopt(home, record.point)[Symbol.asyncDispose]()
  if (fork !== undefined) await copies.tidy(fork)
  return { fork: fork ?? record.fork, changes: isKept ? changes : 0, leftOut, checkpoint }
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

async function countChanges(home: WorkspaceHome, before: string, after: string): Promise<number> {
  return (await Array.fromAsync((await home.vault(after)).diff({ vault: before }))).length
}

/** True if no fork was named, and only times changed. */
async function isUnchanged({ home, record }: LeftCommand, vault: string): Promise<boolean> {
  const { point, newFork } = record
  if (newFork === undefined || newFork.name !== undefined) return false
  const paths = await home.listTouchedPaths(point, vault)
  return isSameAt(await home.posix(point), await home.posix(vault), paths)
}

/** Returns the name of the vault that gets the changes, and creates a fork if there is none. */
async function openTarget({ home, tagged, record }: LeftCommand): Promise<string> {
  const { vault, newFork, created, point } = record
  const vaults = await home.vaults()
  const known = newFork === undefined ? vault : created
  // A fork of a process that has ended is deleted by a sweep.
  if (known !== undefined && vaults.includes(known) && !isSessionForkName(known)) return known
  const { name, stem = vault } = newFork ?? {}
  const options = { beside: point }
  const fork =
    name === undefined || isSessionForkName(name)
      ? await forkByNumber(home, vault, stem, options)
      : await forkByName(home, vault, name, options)
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
  target: string,
): Promise<string | undefined> {
  try {
    await home.merge(left, target, { ...by, onConflict: 'fail' })
    return undefined
  } catch (error) {
    if (!isVfsError(error, 'ECONFLICT')) throw error
  }
  const { name } = await (await home.vault(target)).checkpoint()
  await home.merge(left, target, { ...by, onConflict: 'theirs' })
  return name
}
