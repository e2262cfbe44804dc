import { createProcessTag, isStaleTag } from '../../machine/index.ts'
import { isVfsError } from '../../vfs/index.ts'
import type { LinkHome } from './link-home.ts'

/** Names of forks for the commands of one session, with the owning process. */
const SESSION_FORK_NAME = /^session-(.+?)(?:-base)?$/

const BASE_SUFFIX = '-base'

/** Creates a fork name with this process as the owner. A sweep deletes the fork after the process has ended. */
export function createForkName(): string {
  return `session-${createProcessTag()}`
}

/** True for the name of a fork that belongs to a process, and that a sweep deletes later. */
export function isSessionForkName(name: string): boolean {
  return SESSION_FORK_NAME.test(name)
}

/** The state of a vault at one moment, such as before a command, to compare with its later state. */
export class ForkPoint implements AsyncDisposable {
  /** The vault that keeps the state. */
  readonly vault: string
  /** Name for a fork of it that commands may change. */
  readonly scratch: string
  readonly #home: Pick<LinkHome, 'deleteVault'>

  private constructor(home: Pick<LinkHome, 'deleteVault'>, scratch: string) {
    this.#home = home
    this.scratch = scratch
    this.vault = scratch + BASE_SUFFIX
  }

  /** Creates the point in constant time. Throws ENOENT if the vault is missing. */
  static async create(home: Pick<LinkHome, 'fork' | 'deleteVault'>, source: string): Promise<ForkPoint> {
    const point = new ForkPoint(home, createForkName())
    await home.fork(source, point.vault, { isTemporary: true })
    return point
  }

  /** Takes over the point that a killed process created. */
  static adopt(home: Pick<LinkHome, 'deleteVault'>, vault: string): ForkPoint {
    return new ForkPoint(home, vault.slice(0, -BASE_SUFFIX.length))
  }

  async [Symbol.asyncDispose](): Promise<void> {
    await deleteSessionFork(this.#home, this.vault)
  }
}

/**
 * Deletes the forks that sessions of dead processes left. Returns their number.
 *
 * @param kept those that changes still depend on which are stored later.
 */
export async function sweepForkPoints(
  home: Pick<LinkHome, 'vaults' | 'deleteVault'>,
  kept: ReadonlySet<string> = new Set(),
): Promise<number> {
  let count = 0
  for (const name of await home.vaults()) {
    const [, owner] = SESSION_FORK_NAME.exec(name) ?? []
    if (owner === undefined || !isStaleTag(owner) || kept.has(name)) continue
    if (await deleteSessionFork(home, name)) count++
  }
  return count
}

/** Deletes a fork of a process. False if another process swept it first: its own was killed. */
export async function deleteSessionFork(home: Pick<LinkHome, 'deleteVault'>, name: string): Promise<boolean> {
  try {
    await home.deleteVault(name)
    return true
  } catch (error) {
    if (!isVfsError(error, 'ENOENT')) throw error
    return false
  }
}
