import type { EngineName, HomeOptions } from '../backends/vault/index.ts'
import type { Caller } from '../vfs/index.ts'

/** A home on disk, as a thread of its own can open it. */
export interface HomePlace extends Pick<HomeOptions, 'durability'> {
  readonly path: string
  readonly engine?: EngineName
}

/** What the thread that serves a vault is given. */
export interface VaultWork {
  /** `/dev/fuse`, open and mounted. */
  readonly fd: number
  readonly home: HomePlace
  readonly vault: string
  /** Who does what is done in it, for the journal. */
  readonly caller?: Caller
  /** By which the journal tells this mount's changes from those of others. */
  readonly trace: string
  /** How many changes wait for another to be committed with; shared memory. */
  readonly waiting: Int32Array
}
