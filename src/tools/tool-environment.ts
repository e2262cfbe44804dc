import type { FileSystem } from '../vfs/index.ts'
import type { HostFiles } from './host/index.ts'
import type { ReadTracker } from './read-tracker.ts'
import type { Workspace } from './workspace.ts'

/** What tools work on. */
export interface ToolEnvironment {
  /** The namespace behind `vfs:///`, guarded. */
  readonly fs: FileSystem
  /** Files of this machine, within the allow-list; absent if there is none. */
  readonly host?: HostFiles | undefined
  readonly workspace?: Workspace | undefined
  /** What the registry's user has seen of which file, so that it edits nothing else than what it has read. */
  readonly reads: ReadTracker
}
