import { HostFs } from '../../backends/host/index.ts'
import { type Home, isMirrorName, type Vault, type VaultMoment } from '../../backends/vault/index.ts'
import { isInternalVault } from '../../config/index.ts'
import { type FileSystem, isVfsError, ReadOnlyFs, VfsError } from '../../vfs/index.ts'
import { parseTreeRef, type TreeMoment, type TreeName, type TreeRef } from '../../web-api/index.ts'
import { findForkByName, LinkedDirectory, type LinkedFork } from '../../workspace/index.ts'
import { ForkFs } from './fork-fs.ts'

/** Directories that are kept open. */
const MAX_DIRECTORIES = 32

/** A fork of a directory, with its directory. */
export interface OpenForkRef {
  readonly link: LinkedDirectory
  readonly fork: LinkedFork
}

/** A tree that a request names. */
export interface OpenTreeRef {
  readonly ref: TreeRef
  readonly fs: FileSystem
  /** The vault with its journal; undefined for a directory. */
  readonly vault?: Vault | undefined
  /** The directory and its fork; undefined for a vault. */
  readonly linked?: (Pick<OpenForkRef, 'link'> & Partial<OpenForkRef>) | undefined
}

/** Opens the trees of a home by their names. Vaults that the home itself uses do not exist here. */
export class HomeTrees implements AsyncDisposable {
  readonly home: Home
  readonly #directories = new Map<string, HostFs>()

  constructor(home: Home) {
    this.home = home
  }

  /** Opens a tree for reading. ENOENT, EINVAL. */
  async open(name: TreeName): Promise<OpenTreeRef> {
    const ref = parseTree(name)
    if (ref.kind === 'directory') return this.#openDirectory(ref, ref.path)
    if (ref.kind === 'fork') return this.#openFork(ref, ref.name, ref.at)
    const vault = await this.openVault(ref.name)
    return { ref, vault, fs: ref.at === undefined ? vault : await vault.openMoment(toVaultMoment(ref.at)) }
  }

  /** Opens a vault of the user. ENOENT for any other. */
  async openVault(name: string): Promise<Vault> {
    if (isInternalVault(name)) throw createMissingError(name)
    return this.home.vault(name)
  }

  /** Finds a fork of a directory. ENOENT. */
  async findFork(name: string): Promise<OpenForkRef> {
    const found = isInternalVault(name) ? undefined : await findForkByName(this.home, name)
    if (found === undefined) throw createMissingError(name)
    return { link: openLink(this.home, found.directory), fork: found.fork }
  }

  /** Opens a directory that has forks in this home. ENOENT for any other one. */
  async findDirectory(path: string): Promise<LinkedDirectory> {
    if ((await this.listDirectories()).has(path)) return openLink(this.home, path)
    const detail = `${path} has no forks; create one with: coppice exec -- <command>`
    throw new VfsError('ENOENT', path, { op: 'open', detail })
  }

  /** Lists the directories with forks, and those forks. */
  async listDirectories(): Promise<ReadonlyMap<string, readonly LinkedFork[]>> {
    const found = new Map<string, LinkedFork[]>()
    for (const name of await this.listVaults()) {
      const linked = await findForkByName(this.home, name).catch(ignoreMissing)
      if (linked !== undefined)
        found.set(linked.directory, [...(found.get(linked.directory) ?? []), linked.fork])
    }
    return found
  }

  /** Lists the vaults of the user, forks of directories included. */
  async listVaults(): Promise<string[]> {
    return (await this.home.vaults()).filter((name) => !isInternalVault(name))
  }

  async [Symbol.asyncDispose](): Promise<void> {
    for (const fs of this.#directories.values()) await fs.close()
    this.#directories.clear()
  }

  async #openDirectory(ref: TreeRef, path: string): Promise<OpenTreeRef> {
    const link = await this.findDirectory(path)
    return { ref, linked: { link }, fs: await this.#openHost(link.path) }
  }

  async #openFork(ref: TreeRef, name: string, at: TreeMoment | undefined): Promise<OpenTreeRef> {
    const { link, fork } = await this.findFork(name)
    const [vault, mirror] = [await this.home.vault(fork.name), await this.home.vault(fork.mirror)]
    const directory = await this.#openHost(link.path)
    const before = at === undefined || at === 'base' ? mirror : await openMirrorAt(mirror, vault, at)
    const after =
      at === undefined ? vault : at === 'base' ? mirror : await vault.openMoment(toVaultMoment(at))
    return { ref, vault, linked: { link, fork }, fs: new ForkFs({ after, before, directory }) }
  }

  async #openHost(path: string): Promise<FileSystem> {
    const open = this.#directories.get(path) ?? new HostFs(path)
    this.#directories.delete(path)
    this.#directories.set(path, open)
    const [oldest] = this.#directories
    if (this.#directories.size > MAX_DIRECTORIES && oldest !== undefined) {
      this.#directories.delete(oldest[0])
      await oldest[1].close()
    }
    return new ReadOnlyFs(open)
  }
}

/** Parses the name of a tree. EINVAL. */
export function parseTree(name: TreeName): TreeRef {
  const ref = parseTreeRef(name)
  if (ref !== undefined) return ref
  const detail = `'${name.slice(0, 100)}' names no tree; use vault:NAME, fork:NAME or directory:/PATH`
  throw new VfsError('EINVAL', '/', { op: 'request', detail })
}

function toVaultMoment(at: TreeMoment): VaultMoment {
  if (at === 'base') return 'fork'
  return 'seq' in at ? { row: at.seq } : { checkpoint: at.checkpoint }
}

/**
 * Opens the mirror of a directory as it was at a moment of the fork. Its rows have other numbers, so the time of a row
 * counts.
 */
async function openMirrorAt(
  mirror: Vault,
  fork: Vault,
  at: Exclude<TreeMoment, 'base'>,
): Promise<FileSystem> {
  if ('checkpoint' in at) {
    const names = (await mirror.checkpoints()).map(({ name }) => name)
    return names.includes(at.checkpoint) ? mirror.openMoment({ checkpoint: at.checkpoint }) : mirror
  }
  const time = await findRowTime(fork, at.seq)
  for await (const row of mirror.journal({ newestFirst: true, inherited: true }))
    if (row.time.getTime() <= time) return mirror.openMoment({ row: row.seq })
  return mirror.openMoment({ row: 0 })
}

async function findRowTime(vault: Vault, seq: number): Promise<number> {
  for await (const row of vault.journal({ since: seq - 1, inherited: true })) return row.time.getTime()
  return Number.POSITIVE_INFINITY
}

function openLink(home: Home, directory: string): LinkedDirectory {
  try {
    return new LinkedDirectory(home, directory)
  } catch (error) {
    if (!(error instanceof Error && 'code' in error && error.code === 'ENOENT')) throw error
    const detail = `the directory ${directory} is gone; its forks are still in the home`
    throw new VfsError('ENOENT', directory, { op: 'open', detail, cause: error })
  }
}

function createMissingError(name: string): VfsError {
  return new VfsError('ENOENT', name, { op: 'open', detail: `there is no vault or fork '${name}'` })
}

/** Returns undefined for ENOENT, because a vault may be deleted while vaults are listed. Throws any other error. */
export function ignoreMissing(error: unknown): undefined {
  if (isVfsError(error, 'ENOENT')) return undefined
  throw error
}

/** Reports whether a vault was forked from a directory. */
export function isLinkedFork(from: { readonly vault: string } | undefined): boolean {
  return from !== undefined && isMirrorName(from.vault)
}
