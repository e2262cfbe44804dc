import { isVfsError, type PathChange } from '../../vfs/index.ts'
import type { MergeOptions } from './merge-options.ts'
import type { Vault } from './vault.ts'

/** One of several forks that were given the same task. */
export interface RaceLane<T> {
  readonly name: string
  readonly vault: Vault
  readonly outcome: PromiseSettledResult<T>
  /** What it changed, sorted by path. */
  readonly changes: readonly PathChange[]
}

/** What a race needs of its home. */
export interface RaceActions {
  merge(fork: string, options: MergeOptions): Promise<PathChange[]>
  delete(fork: string): Promise<void>
}

/** Forks that have run: keep one, or none. Either way the forks are deleted. */
export class Race<T> {
  readonly lanes: readonly RaceLane<T>[]
  readonly #actions: RaceActions

  constructor(lanes: readonly RaceLane<T>[], track: RaceActions) {
    this.lanes = lanes
    this.#actions = track
  }

  /** Merges one fork into the vault they all grew from, and deletes them all. If that fails, they are all still there. */
  async keep(index: number, options: MergeOptions = {}): Promise<PathChange[]> {
    const lane = this.lanes[index]
    if (lane === undefined) throw new RangeError(`there is no lane ${index} of ${this.lanes.length}`)
    const changes = await this.#actions.merge(lane.name, options)
    await this.drop()
    return changes
  }

  /** Deletes all the forks that are still there. */
  async drop(): Promise<void> {
    for (const { name } of this.lanes) {
      try {
        await this.#actions.delete(name)
      } catch (error) {
        if (!isVfsError(error, 'ENOENT')) throw error
      }
    }
  }
}
