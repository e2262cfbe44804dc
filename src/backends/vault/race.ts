import { type Change, isVfsError } from '../../vfs/index.ts'
import type { MergeOptions } from './merge-options.ts'
import type { Vault } from './vault.ts'

/** One of several forks that were given the same task. */
export interface Lane<T> {
  readonly name: string
  readonly vault: Vault
  readonly outcome: PromiseSettledResult<T>
  /** What it changed, sorted by path. */
  readonly changes: readonly Change[]
}

/** What a race needs of its home. */
export interface RaceTrack {
  merge(fork: string, options: MergeOptions): Promise<Change[]>
  delete(fork: string): Promise<void>
}

/** Forks that have run: keep one, or none. Either way the forks are deleted. */
export class Race<T> {
  readonly lanes: readonly Lane<T>[]
  readonly #track: RaceTrack

  constructor(lanes: readonly Lane<T>[], track: RaceTrack) {
    this.lanes = lanes
    this.#track = track
  }

  /** Merges one fork into the vault they all grew from, and deletes them all. If that fails, they are all still there. */
  async keep(index: number, options: MergeOptions = {}): Promise<Change[]> {
    const lane = this.lanes[index]
    if (lane === undefined) throw new RangeError(`there is no lane ${index} of ${this.lanes.length}`)
    const changes = await this.#track.merge(lane.name, options)
    await this.drop()
    return changes
  }

  /** Deletes all the forks that are still there. */
  async drop(): Promise<void> {
    for (const { name } of this.lanes) {
      try {
        await this.#track.delete(name)
      } catch (error) {
        if (!isVfsError(error, 'ENOENT')) throw error
      }
    }
  }
}
