import { assertFileSystem, type FileSystem, MemoryFs, MountTable } from '../vfs/index.ts'
import { Authors } from './authors.ts'
import { OutputCache, TOOL_CACHE } from './cache/index.ts'
import type { HostFiles } from './host/index.ts'
import { ReadTracker } from './read-tracker.ts'
import type { ToolEnvironment } from './tool-environment.ts'
import type { Workspace } from './workspace.ts'

/** What tools are made for: a namespace, and what belongs to it. */
export interface ToolNamespace {
  /** Behind `vfs:///`; guarded, if callers shall not do everything. */
  readonly fs: FileSystem
  /** For paths of this machine. */
  readonly host?: HostFiles | undefined
  /** For the `workspace_*` tools. */
  readonly workspace?: Workspace | undefined
  /** Where long outputs go; they are told in full if it is absent. */
  readonly cache?: OutputCache | undefined
}

/** A namespace as one registry works on it. */
export interface RegistryEnvironment extends ToolEnvironment {
  readonly cache: OutputCache | undefined
}

/** Who wrote a namespace's files belongs to it, not to one of the registries made for it. */
const authorsByFs = new WeakMap<FileSystem, Authors>()
const bareNamespaces = new WeakMap<FileSystem, ToolNamespace>()

/** A bench for one registry: what was seen through another is not seen by its reader. */
export function createToolEnvironment(namespace: ToolNamespace | FileSystem): RegistryEnvironment {
  const { fs, host, workspace, cache } = 'capabilities' in namespace ? wrapFileSystem(namespace) : namespace
  assertFileSystem(fs, '/', 'tools')
  return { fs, host, workspace, cache, reads: new ReadTracker(getAuthors(fs)) }
}

/** A file system on its own: no zones, and its outputs are kept in memory, where `/sys/tool_cache` would be. */
function wrapFileSystem(fs: FileSystem): ToolNamespace {
  const known = bareNamespaces.get(fs)
  if (known !== undefined) return known
  const table = new MountTable({ '/': fs, [TOOL_CACHE]: new MemoryFs() })
  const made = { fs: table, cache: new OutputCache(table) }
  bareNamespaces.set(fs, made)
  return made
}

function getAuthors(fs: FileSystem): Authors {
  const known = authorsByFs.get(fs) ?? new Authors()
  authorsByFs.set(fs, known)
  return known
}
