import type { HostFs } from '../backends/host/index.ts'
import { assertVaultName, type Home, type Vault } from '../backends/vault/index.ts'
import { claimNewFork, RunningForks } from '../boundary/index.ts'
import { Mutex } from '../machine/index.ts'
import { type FileSystem, isVfsError, VfsError } from '../vfs/index.ts'
import {
  createDirectoryMask,
  createMaskSettings,
  findForkByName,
  LinkedDirectory,
  type LinkedFork,
  LinkedFs,
  type MaskChoice,
} from '../workspace/index.ts'

/** A directory of this machine whose fork is a workspace. */
export interface DirectoryWorkspace {
  readonly path: string
  /** Continues this fork, or creates it; a new one with a generated name when absent. */
  readonly fork?: string | undefined
  /** The fork that a new one copies, as it is or was at a checkpoint. A new fork is as the directory when absent. */
  readonly from?: { readonly fork: string; readonly at?: string | undefined } | undefined
  /** Forks of the same directory whose changes are merged into a new fork. ECONFLICT if the changes conflict. */
  readonly merge?: readonly string[] | undefined
  /** Lists a new fork at once. Otherwise its first change lists it, and closing it without changes deletes it. */
  readonly isKept?: boolean | undefined
  /** Name of the program that works in the fork, for `coppice forks`. */
  readonly program: string
}

export interface OpenForkOptions {
  readonly mask?: MaskChoice | undefined
  /** Directories that stay closed, such as homes. */
  readonly closed: readonly string[]
  /** Opens the directory for reading. */
  openDirectory(path: string): HostFs
}

/** An open fork of a directory. */
export interface OpenedFork {
  readonly link: LinkedDirectory
  readonly fork: LinkedFork
  readonly vault: Vault
  /** The directory with the changes of the fork. */
  readonly fs: FileSystem
  /** Orders the changes of tools and commands. */
  readonly mutex: Mutex
  /** Also deletes a fork that was created here, has no changes and is not to be kept. */
  close(): Promise<void>
}

/**
 * Opens a fork of a directory: nothing is imported, and the directory stays as it is. EINVAL in a home in memory, or if
 * a fork to copy or merge is not one of a directory; EEXIST if a vault has the name that is not a fork of this
 * directory; ECONFLICT if forks cannot be merged; ENOENT if the directory or a fork does not exist.
 */
export async function openFork(
  home: Home,
  workspace: DirectoryWorkspace,
  { mask, closed, openDirectory }: OpenForkOptions,
): Promise<OpenedFork> {
  const { path: homePath } = home
  if (homePath === undefined)
    throw new VfsError('EINVAL', workspace.path, {
      op: 'open',
      detail: 'a home in memory has no forks of directories; open one on disk',
    })
  const link = new LinkedDirectory(home, workspace.path)
  const { fork, isNew, release } = await obtainFork(home, homePath, link, workspace)
  const mutex = new Mutex()
  // A fork that existed before may have other users.
  const isDroppable = isNew && workspace.isKept !== true
  const leave = async () => {
    // In the mutex: a change in progress may still make it a used one.
    if (isDroppable) await mutex.run(() => dropIfUnused(link, fork))
    release()
  }
  try {
    const vault = await home.vault(fork.name)
    const settings = mask && createDirectoryMask(createMaskSettings(homePath, mask), link.path)
    const directory = openDirectory(link.path)
    const fs = new LinkedFs({
      link,
      fork,
      vault,
      directory,
      mutex,
      closed,
      ...(settings !== undefined && { mask: settings }),
    })
    const close = async () => {
      await directory.close()
      await leave()
    }
    return { link, fork, vault, fs, mutex, close }
  } catch (error) {
    await leave()
    throw error
  }
}

/** Continues the named fork, or starts one. Claims its name until `release`, unless another process has claimed it. */
async function obtainFork(
  home: Home,
  homePath: string,
  link: LinkedDirectory,
  { fork: requested, program, ...choice }: DirectoryWorkspace,
): Promise<{ readonly fork: LinkedFork; readonly isNew: boolean; readonly release: () => void }> {
  if (requested !== undefined) assertVaultName(requested)
  const running = RunningForks.of(homePath)
  const claim = (fork: string) => running.claim({ fork, directory: link.path, command: program })
  // Also completes or reverts an apply whose process was killed.
  await link.listForks()
  const existing = requested === undefined ? undefined : await link.findFork(requested)
  const vaults = await home.vaults()
  if (requested !== undefined && existing === undefined && vaults.includes(requested)) {
    const detail = `'${requested}' is not a fork of ${link.path}; choose another name`
    throw new VfsError('EEXIST', requested, { op: 'fork', detail })
  }
  const claimed =
    requested === undefined
      ? claimNewFork(link.path, vaults, claim)
      : { name: requested, claim: claim(requested) }
  // No claim if another process has that of the named fork: both may work in it, and the first one keeps the claim.
  const release = () => claimed.claim?.[Symbol.dispose]()
  try {
    if (existing !== undefined) {
      // Another process works in it, and might delete it at its end as one without changes.
      if (claimed.claim === undefined) await link.joinFork(existing)
      return { fork: existing, isNew: false, release }
    }
    return { fork: await startFork(home, link, claimed.name, choice), isNew: true, release }
  } catch (error) {
    release()
    throw error
  }
}

async function startFork(
  home: Home,
  link: LinkedDirectory,
  name: string,
  { from, merge = [], isKept }: Omit<DirectoryWorkspace, 'fork' | 'program'>,
): Promise<LinkedFork> {
  const fork = await link.startFork(name, from && { fork: await findFork(home, from.fork), at: from.at })
  try {
    for (const source of merge) await link.mergeForks(await findFork(home, source), fork)
    if (isKept === true) await link.markUsed(fork)
    return fork
  } catch (error) {
    await link.drop(fork)
    throw error
  }
}

async function findFork(home: Home, name: string): Promise<LinkedFork> {
  const found = await findForkByName(home, name)
  if (found !== undefined) return found.fork
  throw new VfsError('EINVAL', name, { op: 'fork', detail: `'${name}' is not a fork of a directory` })
}

/** Returns the directory that a fork is of; undefined if it is a vault, or missing. */
export async function findForkDirectory(home: Home, fork: string): Promise<string | undefined> {
  try {
    return (await findForkByName(home, fork))?.directory
  } catch (error) {
    if (isVfsError(error, 'ENOENT')) return undefined
    throw error
  }
}

/** Deletes a fork of a directory, or any other vault. */
export async function deleteFork(home: Home, name: string): Promise<void> {
  const found = await findForkByName(home, name)
  if (found === undefined) await home.deleteVault(name)
  else await new LinkedDirectory(home, found.directory).drop(found.fork)
}

/** Deletes a fork without changes, unless somebody has deleted it already. */
async function dropIfUnused(link: LinkedDirectory, fork: LinkedFork): Promise<void> {
  try {
    await link.dropIfUnused(fork)
  } catch (error) {
    if (!isVfsError(error, 'ENOENT')) throw error
  }
}
