import type { HomeLocation } from '../backends/vault/index.ts'
import type { Caller } from '../vfs/index.ts'

/** What the thread that serves a vault is given. */
export interface VaultWorkerData {
  /** `/dev/fuse`, open and mounted. */
  readonly fd: number
  readonly home: HomeLocation
  readonly vault: string
  /** Who does what is done in it, for the journal. */
  readonly caller?: Caller
  /** By which the journal tells this mount's changes from those of others. */
  readonly trace: string
  /** Another number after each change that waits to be committed, 0 if none does; shared memory. */
  readonly waiting: Int32Array
  /** Set once it is to end, whoever uses the mount; shared memory. */
  readonly ending: Int32Array
  /** Where it is mounted, and the name there of the file the kernel is woken with. */
  readonly directory: string
  readonly wakeName: string
}
