import type { GuardedFs } from '../access/index.ts'
import type { CleanupStack } from '../machine/index.ts'
import {
  createToolRegistry,
  type HostFiles,
  type OutputCache,
  type ToolRegistry,
  type Workspace,
} from '../tools/index.ts'
import type { CallContext, MountTable, PathChange } from '../vfs/index.ts'
import type { LinkedFork } from '../workspace/index.ts'
import { watchMounts } from './watch-mounts.ts'

/** Parts that `openNamespace` assembles. */
export interface NamespaceParts {
  readonly context: string
  /** The mounts, without the guard. */
  readonly table: MountTable
  readonly fs: GuardedFs
  readonly cache: OutputCache
  readonly host: HostFiles | undefined
  /** Opens directories of this machine with the hooks and protected names of the namespace. */
  readonly openHost: (directories: readonly string[]) => HostFiles
  readonly workspace: Workspace | undefined
  /** The fork of a directory that is the workspace. */
  readonly fork?: LinkedFork | undefined
  readonly cleanup: CleanupStack
}

export interface ToolOptions {
  /** Names of the tools to include; all when absent. */
  readonly tools?: readonly string[]
  /** Host files for the tools; those of the namespace when absent. */
  readonly host?: HostFiles | undefined
}

/**
 * Everything one context, such as an agent or a user, sees as `/`: zones (`/home`, `/shared`, …), its workspace and mounts.
 * A guard checks every call by its caller. Close it when done.
 */
export class Namespace implements AsyncDisposable {
  /** The name by which the guard knows the agent or user. */
  readonly context: string
  /** The guarded files; a call without a caller may only read. */
  readonly fs: GuardedFs
  /** Cache of long tool outputs. */
  readonly cache: OutputCache
  /** Files of this machine that tools may use; undefined if there are none. */
  readonly host: HostFiles | undefined
  readonly workspace: Workspace | undefined
  /** The fork of a directory that is the workspace; undefined if that is a vault, or if there is none. */
  readonly fork: LinkedFork | undefined
  readonly #parts: NamespaceParts

  constructor(parts: NamespaceParts) {
    this.context = parts.context
    this.fs = parts.fs
    this.cache = parts.cache
    this.host = parts.host
    this.workspace = parts.workspace
    this.fork = parts.fork
    this.#parts = parts
  }

  /** Creates the tools of this context, or those that `tools` names. */
  tools({ host = this.host, ...options }: ToolOptions = {}): ToolRegistry {
    const { fs, workspace, cache, context } = this
    const optional = { ...(host && { host }), ...(workspace && { workspace }) }
    return createToolRegistry({ fs, cache, ...optional }, { context, ...options })
  }

  /**
   * Creates host files for one client, with its own allow-list; that of the namespace when absent. The caller closes
   * them. Throws EINVAL, ENOENT or ENOTDIR for a directory that cannot be allowed.
   */
  hostFiles(directories: readonly string[] = this.host?.allowed ?? []): HostFiles {
    return this.#parts.openHost(directories)
  }

  /**
   * Yields changes at or below a path, made by any process, from now until the loop is left. Zones in a vault, the
   * workspace and writable vault mounts report changes; other mounts do not.
   */
  watch(path: string, ctx?: CallContext): AsyncGenerator<PathChange> {
    return watchMounts(this.#parts.table.mounts(), path, ctx)
  }

  /** Closes everything that was opened for it. Idempotent. */
  close(): Promise<void> {
    return this.#parts.cleanup.close()
  }

  [Symbol.asyncDispose](): Promise<void> {
    return this.close()
  }
}
