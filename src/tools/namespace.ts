import { assertFileSystem, type FileSystem, MemoryFs, MountTable } from '../vfs/index.ts'
import { Authors } from './authors.ts'
import { OutputCache, TOOL_CACHE } from './cache/index.ts'
import type { HostFiles } from './host/index.ts'
import { ReadMemory } from './read-memory.ts'
import type { Workbench } from './workbench.ts'
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
export interface RegistryBench extends Workbench {
  readonly cache: OutputCache | undefined
}

/** Who wrote a namespace's files belongs to it, not to one of the registries made for it. */
const authors = new WeakMap<FileSystem, Authors>()
const bare = new WeakMap<FileSystem, ToolNamespace>()

/** A bench for one registry: what was seen through another is not seen by its reader. */
export function benchOf(namespace: ToolNamespace | FileSystem): RegistryBench {
  const { fs, host, workspace, cache } = 'capabilities' in namespace ? namespaceOver(namespace) : namespace
  assertFileSystem(fs, '/', 'tools')
  return { fs, host, workspace, cache, reads: new ReadMemory(authorsOf(fs)) }
}

/** A file system on its own: no zones, and its outputs are kept in memory, where `/sys/tool_cache` would be. */
function namespaceOver(fs: FileSystem): ToolNamespace {
  const known = bare.get(fs)
  if (known !== undefined) return known
  const table = new MountTable({ '/': fs, [TOOL_CACHE]: new MemoryFs() })
  const made = { fs: table, cache: new OutputCache(table) }
  bare.set(fs, made)
  return made
}

function authorsOf(fs: FileSystem): Authors {
  const known = authors.get(fs) ?? new Authors()
  authors.set(fs, known)
  return known
}
