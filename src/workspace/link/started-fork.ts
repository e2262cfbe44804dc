import { createProcessTag } from '../../machine/index.ts'
import type { CallContext } from '../../vfs/index.ts'
import { compareTrees, createChangeWork } from './compare-trees.ts'
import { forkMirror } from './fork-mirror.ts'
import { START_CHECKPOINT, TemporaryForks } from './fork-origin.ts'
import type { LinkedFork, LinkHome } from './link-home.ts'
import { createMirrorName, isMirror, isMirrorOf, readRecord, writeRecord } from './link-record.ts'
import { performWork } from './tree-work.ts'

/** The time of use is recorded this often at most. */
const USED_INTERVAL_MS = 10_000

/** Creates a vault for the base of a new fork. A sweep deletes it if this process dies before the fork is complete. */
export async function createMirror(
  home: LinkHome,
  directory: string,
  source?: string,
): Promise<{ readonly mirror: string; readonly used: Date }> {
  const mirror = createMirrorName(directory)
  await (source === undefined ? home.createVault(mirror) : home.fork(source, mirror))
  const used = new Date()
  const record = { directory, fork: '', used: used.getTime(), maker: createProcessTag() }
  writeRecord(await home.posix(mirror), record)
  return { mirror, used }
}

/** A fork to copy, as it is or as it was at a checkpoint. */
export interface ForkSource {
  readonly fork: LinkedFork
  readonly at?: string | undefined
}

/** Creates an empty fork, or a copy of another one. This process stays its maker until it is used. */
export async function startFork(
  home: LinkHome,
  directory: string,
  name: string,
  source?: ForkSource,
): Promise<LinkedFork> {
  if (source === undefined) return createFork(home, directory, name)
  const { fork, at } = source
  await using temporary = new TemporaryForks(home)
  const [mirror, after] = [
    at === undefined ? fork.mirror : await temporary.create(fork.mirror, at),
    at === undefined ? fork.name : await temporary.create(fork.name, at),
  ]
  const copy = await createFork(home, directory, name, mirror)
  const changes = compareTrees(await home.posix(mirror), await home.posix(after))
  await performWork(await home.posix(copy.name), changes.map(createChangeWork))
  // Later changes of the copy can then be merged into the fork.
  for (const vault of [copy.mirror, copy.name]) await (await home.vault(vault)).checkpoint(START_CHECKPOINT)
  const base = await home.posix(copy.mirror)
  const record = readRecord(base)
  if (record !== undefined) writeRecord(base, { ...record, origin: fork.mirror })
  return copy
}

/** Creates a fork without changes. Its base is a fork of another mirror, or empty. */
async function createFork(
  home: LinkHome,
  directory: string,
  name: string,
  source?: string,
): Promise<LinkedFork> {
  const { mirror, used } = await createMirror(home, directory, source)
  const fork = await forkMirror(home, { directory, mirror, name })
  const base = await home.posix(mirror)
  writeRecord(base, { ...(readRecord(base) ?? { directory, used: used.getTime() }), fork })
  return { name: fork, mirror, used }
}

/** Records the use of a fork, which is then complete. */
export async function markUsed(home: LinkHome, { name, mirror }: LinkedFork): Promise<void> {
  const base = await home.posix(mirror)
  const record = readRecord(base)
  const now = Date.now()
  if (record === undefined || (record.maker === undefined && now - record.used < USED_INTERVAL_MS)) return
  const { maker: _maker, ...rest } = record
  writeRecord(base, { ...rest, fork: name, used: now })
}

/** Finds the fork of a directory that a process started and has not used yet; undefined if there is none of this name. */
export async function findStartedFork(
  home: LinkHome,
  directory: string,
  name: string,
): Promise<LinkedFork | undefined> {
  if (!(await home.vaults()).includes(name)) return undefined
  const { from } = await home.info(name)
  if (from === undefined || !isMirrorOf(directory, from.vault)) return undefined
  const record = readRecord(await home.posix(from.vault))
  // The name is recorded once both vaults are there.
  if (record?.maker === undefined || record.fork !== name) return undefined
  return { name, mirror: from.vault, used: new Date(record.used) }
}

/** Lists a fork, and keeps it also without changes. */
export async function joinFork(home: LinkHome, { name, mirror }: LinkedFork): Promise<void> {
  const base = await home.posix(mirror)
  const record = readRecord(base)
  if (record === undefined || record.isShared === true) return
  const { maker: _maker, ...rest } = record
  writeRecord(base, { ...rest, fork: name, used: Date.now(), isShared: true })
}

/**
 * Restores both vaults of a fork. The base comes first: between the two, paths that were touched later are then new in
 * the fork, and not removed from it.
 */
export async function restoreFork(
  home: LinkHome,
  { name, mirror }: LinkedFork,
  checkpoint: string,
  provenance: Pick<CallContext, 'caller' | 'trace'>,
): Promise<void> {
  const base = await home.posix(mirror)
  const record = readRecord(base)
  const [mirrored, fork] = [await home.vault(mirror), await home.vault(name)]
  await mirrored.restore(checkpoint, provenance)
  // An apply since then is still the one that an undo reverts.
  if (record !== undefined) writeRecord(await home.posix(mirror), record)
  await fork.restore(checkpoint, provenance)
}

/** Finds a fork of any directory by its name; undefined for a vault that is none. Throws ENOENT if no vault has the name. */
export async function findForkByName(
  home: LinkHome,
  name: string,
): Promise<{ readonly directory: string; readonly fork: LinkedFork } | undefined> {
  const { from } = await home.info(name)
  if (from === undefined || !isMirror(from.vault)) return undefined
  const record = readRecord(await home.posix(from.vault))
  if (record === undefined) return undefined
  return {
    directory: record.directory,
    fork: { name, mirror: from.vault, used: new Date(record.used) },
  }
}
