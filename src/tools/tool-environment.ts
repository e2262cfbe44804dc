import type { FileSystem } from '../vfs/index.ts'
import type { HostFiles } from './host/index.ts'
import type { ReadTracker } from './read-tracker.ts'
import type { Workspace } from './workspace.ts'

/** Environment that tools work in. */
export interface ToolEnvironment {
  /** Guarded namespace behind `vfs:///`. */
  readonly fs: FileSystem
  /** Host files within the allow-list; absent if there is none. */
  readonly host?: HostFiles | undefined
  readonly workspace?: Workspace | undefined
  /** Versions that the registry's user has read, to refuse edits of others. */
  readonly reads: ReadTracker
}
