import { createProcessTag, isStaleTag } from '../../machine/index.ts'
import { isVfsError } from '../../vfs/index.ts'
import type { LinkHome } from './link-home.ts'

/** Forks for the commands of one session, named after the process they belong to. */
const SESSION_FORK_NAME = /^session-(.+?)(?:-base)?$/

/** A name for a fork that goes with this process: what is left of it when the process is over is swept. */
export function createForkName(): string {
  return `session-${createProcessTag()}`
}

/** A vault as it was at one moment, such as before a command, to compare with what became of it. */
export class ForkPoint implements AsyncDisposable {
  /** The vault that stays as it was. */
  readonly vault: string
  /** A name for a fork of it that commands may change. */
  readonly scratch: string
  readonly #home: Pick<LinkHome, 'deleteVault'>

  private constructor(home: Pick<LinkHome, 'deleteVault'>, scratch: string) {
    this.#home = home
    this.scratch = scratch
    this.vault = `${scratch}-base`
  }

  /** O(1). ENOENT. */
  static async create(home: Pick<LinkHome, 'fork' | 'deleteVault'>, source: string): Promise<ForkPoint> {
    const point = new ForkPoint(home, createForkName())
    await home.fork(source, point.vault)
    return point
  }

  async [Symbol.asyncDispose](): Promise<void> {
    await this.#home.deleteVault(this.vault)
  }
}

/** Deletes the forks that sessions of dead processes left. Returns how many there were. */
export async function sweepForkPoints(home: Pick<LinkHome, 'vaults' | 'deleteVault'>): Promise<number> {
  let count = 0
  for (const name of await home.vaults()) {
    const [, owner] = SESSION_FORK_NAME.exec(name) ?? []
    if (owner === undefined || !isStaleTag(owner)) continue
    try {
      await home.deleteVault(name)
      count++
    } catch (error) {
      // Another process that begins was quicker.
      if (!isVfsError(error, 'ENOENT')) throw error
    }
  }
  return count
}
