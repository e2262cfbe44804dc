import { assertFileSystem, type FileSystem, MemoryFs, MountTable } from '../vfs/index.ts'
import { Authors } from './authors.ts'
import { OutputCache, TOOL_CACHE } from './cache/index.ts'
import type { HostFiles } from './host/index.ts'
import { ReadTracker } from './read-tracker.ts'
import type { ToolEnvironment } from './tool-environment.ts'
import type { Workspace } from './workspace.ts'

/** A namespace and its services, for tools. */
export interface ToolNamespace {
  /** File system behind `vfs:///`; guarded unless callers may do everything. */
  readonly fs: FileSystem
  /** Access to host paths. */
  readonly host?: HostFiles | undefined
  /** Workspace for the `workspace_*` tools. */
  readonly workspace?: Workspace | undefined
  /** Cache for long outputs; without it they are returned in full. */
  readonly cache?: OutputCache | undefined
}

/** Environment of one registry. */
export interface RegistryEnvironment extends ToolEnvironment {
  readonly cache: OutputCache | undefined
}

/** Authorship belongs to a namespace, not to one of its registries. */
const authorsByFs = new WeakMap<FileSystem, Authors>()
const bareNamespaces = new WeakMap<FileSystem, ToolNamespace>()

/** Creates the environment of a registry; reads through other registries do not count for it. */
export function createToolEnvironment(namespace: ToolNamespace | FileSystem): RegistryEnvironment {
  // A program without types may pass anything.
  if (typeof namespace !== 'object' || namespace === null) assertFileSystem(namespace, '/', 'tools')
  const { fs, host, workspace, cache } = 'capabilities' in namespace ? wrapFileSystem(namespace) : namespace
  assertFileSystem(fs, '/', 'tools')
  return { fs, host, workspace, cache, reads: createReadTracker(fs) }
}

/** Creates a record of what one more reader of a file system has read. */
export function createReadTracker(fs: FileSystem): ReadTracker {
  return new ReadTracker(getAuthors(fs))
}

/** Wraps a plain file system, once: no zones, and outputs are cached in memory in place of `/sys/tool_cache`. */
function wrapFileSystem(fs: FileSystem): ToolNamespace {
  const existing = bareNamespaces.get(fs)
  if (existing !== undefined) return existing
  const table = new MountTable({ '/': fs, [TOOL_CACHE]: new MemoryFs() })
  const namespace = { fs: table, cache: new OutputCache(table) }
  bareNamespaces.set(fs, namespace)
  return namespace
}

function getAuthors(fs: FileSystem): Authors {
  const authors = authorsByFs.get(fs) ?? new Authors()
  authorsByFs.set(fs, authors)
  return authors
}
