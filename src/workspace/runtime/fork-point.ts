import { isLeftover, ownMark } from '../../machine/index.ts'
import { isVfsError } from '../../vfs/index.ts'
import type { WorkspaceHome } from './workspace-home.ts'

/** Forks for the commands of one session, named after the process they belong to. */
const NAME = /^session-(.+?)(?:-base)?$/

/** A name for a fork that goes with this process: what is left of it when the process is over is swept. */
export function ownForkName(): string {
  return `session-${ownMark()}`
}

/** A vault as it was when a session began, kept for as long as the session: what it changes is compared with this. */
export class ForkPoint implements AsyncDisposable {
  /** The vault that stays as it was. */
  readonly vault: string
  /** A name for a fork of it that the session may change. */
  readonly scratch: string
  readonly #home: Pick<WorkspaceHome, 'deleteVault'>

  private constructor(home: Pick<WorkspaceHome, 'deleteVault'>, scratch: string) {
    this.#home = home
    this.scratch = scratch
    this.vault = `${scratch}-base`
  }

  /** O(1). ENOENT. */
  static async take(home: Pick<WorkspaceHome, 'fork' | 'deleteVault'>, source: string): Promise<ForkPoint> {
    const point = new ForkPoint(home, ownForkName())
    await home.fork(source, point.vault)
    return point
  }

  async [Symbol.asyncDispose](): Promise<void> {
    await this.#home.deleteVault(this.vault)
  }
}

/** Deletes the forks that sessions of dead processes left. */
export async function sweepForkPoints(home: Pick<WorkspaceHome, 'vaults' | 'deleteVault'>): Promise<void> {
  for (const name of await home.vaults()) {
    const [, owner] = NAME.exec(name) ?? []
    if (owner === undefined || !isLeftover(owner)) continue
    try {
      await home.deleteVault(name)
    } catch (error) {
      // Another process that begins was quicker.
      if (!isVfsError(error, 'ENOENT')) throw error
    }
  }
}
