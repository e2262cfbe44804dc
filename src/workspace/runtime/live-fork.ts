import type { HomeLocation } from '../../fuse/index.ts'
import { VfsError } from '../../vfs/index.ts'
import { compareTouchedPaths, type ForkPoint, toSessionChanges } from '../link/index.ts'
import type { LiveBase, SessionChange } from '../session/index.ts'
import type { WorkspaceHome } from './workspace-home.ts'

/** A fork that is served to commands live, and deleted on disposal. */
export class LiveFork implements LiveBase, AsyncDisposable {
  readonly home: HomeLocation
  readonly vault: string
  readonly #base: string
  readonly #vaults: WorkspaceHome

  private constructor(vaults: WorkspaceHome, home: HomeLocation, { vault, scratch }: ForkPoint) {
    this.#vaults = vaults
    this.home = home
    this.vault = scratch
    this.#base = vault
  }

  /** Opens it in constant time. Throws ENOTSUP for a home that no other process can open. */
  static async open(vaults: WorkspaceHome, point: ForkPoint): Promise<LiveFork> {
    if (vaults.place === undefined) {
      const detail = "no other process can open this home to serve it; use a session of kind 'dir'"
      throw new VfsError('ENOTSUP', point.vault, { op: 'session', detail })
    }
    await vaults.fork(point.vault, point.scratch)
    return new LiveFork(vaults, vaults.place, point)
  }

  async limit(bytes: number): Promise<void> {
    const { bytes: before } = await this.#vaults.info(this.#base)
    const { quota } = await this.#vaults.vault(this.vault)
    const limits = await quota.get()
    const most = Math.min(before + bytes, limits.bytes ?? Number.POSITIVE_INFINITY)
    if (limits.bytes !== most) await quota.set({ ...limits, bytes: most })
  }

  changes(root: string): Promise<SessionChange[]> {
    return listLiveChanges(this.#vaults, { base: this.#base, vault: this.vault }, root)
  }

  async [Symbol.asyncDispose](): Promise<void> {
    await this.#vaults.deleteVault(this.vault)
  }
}

/**
 * Lists the differences between a vault that commands have changed and its first state, parents before children.
 * @param root path at which the vault is mounted; nothing can read the files when absent.
 */
export async function listLiveChanges(
  vaults: WorkspaceHome,
  { base, vault }: { readonly base: string; readonly vault: string },
  root = '',
): Promise<SessionChange[]> {
  const paths = await vaults.listTouchedPaths(base, vault)
  const [before, after] = [await vaults.posix(base), await vaults.posix(vault)]
  return toSessionChanges(after, compareTouchedPaths(before, after, paths), paths, root)
}
