import { isVfsError, type PathChange } from '../../vfs/index.ts'
import type { MergeOptions } from './merge-options.ts'
import type { Vault } from './vault.ts'

/** One of several forks that run the same task. */
export interface RaceLane<T> {
  readonly name: string
  readonly vault: Vault
  readonly outcome: PromiseSettledResult<T>
  /** The changes of the fork, sorted by path. */
  readonly changes: readonly PathChange[]
}

/** The actions of the home that a race uses. */
export interface RaceActions {
  merge(fork: string, options: MergeOptions): Promise<PathChange[]>
  delete(fork: string): Promise<void>
}

/** Forks that have run. `keep` merges one and `drop` none; both delete the forks. */
export class Race<T> {
  readonly lanes: readonly RaceLane<T>[]
  readonly #actions: RaceActions

  constructor(lanes: readonly RaceLane<T>[], actions: RaceActions) {
    this.lanes = lanes
    this.#actions = actions
  }

  /** Merges one fork into the source vault and deletes all forks. If the merge fails, all forks stay. */
  async keep(index: number, options: MergeOptions = {}): Promise<PathChange[]> {
    const lane = this.lanes[index]
    if (lane === undefined)
      throw new RangeError(`there is no lane ${index}; the race has ${this.lanes.length}`)
    const changes = await this.#actions.merge(lane.name, options)
    await this.drop()
    return changes
  }

  /** Deletes all remaining forks. */
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
