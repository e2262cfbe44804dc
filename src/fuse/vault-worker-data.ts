import type { HomeLocation } from '../backends/vault/index.ts'
import type { Caller } from '../vfs/index.ts'

/** Message of the serving thread, which then waits until everything is durable elsewhere, too. */
export const SYNC_REQUEST = 'sync'

/** Values of `shipped`. */
export const shipOutcomes = { waiting: 0, done: 1, failed: 2 } as const

/** Input of the thread that serves a vault. */
export interface VaultWorkerData {
  /** `/dev/fuse`, open. It is mounted once the thread gets its first message. */
  readonly fd: number
  readonly home: HomeLocation
  readonly vault: string
  /** Caller recorded in the journal for changes through the mount. */
  readonly caller?: Caller
  /** True to refuse extended attributes. */
  readonly withoutXattrs: boolean
  /** Trace id that marks this mount's changes in the journal. */
  readonly trace: string
  /** Changes with each uncommitted change, 0 if there is none; shared memory. */
  readonly waiting: Int32Array
  /** Set when the thread must end, even if the mount is in use; shared memory. */
  readonly ending: Int32Array
  /** One of `shipOutcomes`: whether the main thread has made everything durable that `fsync` waits for; shared memory. */
  readonly shipped?: Int32Array
  /** The mount point. */
  readonly directory: string
  /** Name of the wake file in the mount point. */
  readonly wakeName: string
}
