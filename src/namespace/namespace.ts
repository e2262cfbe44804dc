import type { GuardedFs } from '../access/index.ts'
import {
  createToolRegistry,
  type HostFiles,
  type OutputCache,
  type ToolRegistry,
  type Workspace,
} from '../tools/index.ts'
import type { CallContext, MountTable, PathChange } from '../vfs/index.ts'
import type { CleanupStack } from './cleanup-stack.ts'
import { watchMounts } from './watch-mounts.ts'

/** Parts that `openNamespace` assembles. */
export interface NamespaceParts {
  readonly context: string
  /** The mounts as they are, below the guard. */
  readonly table: MountTable
  readonly fs: GuardedFs
  readonly cache: OutputCache
  readonly host: HostFiles | undefined
  /** Opens directories of this machine with the hooks and protected names of the namespace. */
  readonly openHost: (directories: readonly string[]) => HostFiles
  readonly workspace: Workspace | undefined
  readonly cleanup: CleanupStack
}

export interface ToolOptions {
  /** Only these. */
  readonly tools?: readonly string[]
  /** In place of the namespace's own. */
  readonly host?: HostFiles | undefined
}

/** Everything one context sees as `/`: zones, its workspace and mounts, guarded as a whole. Close it when done. */
export class Namespace implements AsyncDisposable {
  /** Name of the context. */
  readonly context: string
  /** The files, guarded: who asks is the caller of each call. */
  readonly fs: GuardedFs
  /** Long outputs of tools. */
  readonly cache: OutputCache
  /** Files of this machine that tools may touch; undefined if there are none. */
  readonly host: HostFiles | undefined
  readonly workspace: Workspace | undefined
  readonly #parts: NamespaceParts

  constructor(parts: NamespaceParts) {
    this.context = parts.context
    this.fs = parts.fs
    this.cache = parts.cache
    this.host = parts.host
    this.workspace = parts.workspace
    this.#parts = parts
  }

  /** The tools of this context, or only those that are named; on other files of this machine if they are given. */
  tools({ host = this.host, ...options }: ToolOptions = {}): ToolRegistry {
    const { fs, workspace, cache, context } = this
    const given = { ...(host && { host }), ...(workspace && { workspace }) }
    return createToolRegistry({ fs, cache, ...given }, { context, ...options })
  }

  /**
   * Files of this machine for one client alone, whose allow-list changes without anybody else noticing: those the
   * namespace allows, when absent. They are the caller's to close. EINVAL, ENOENT, ENOTDIR.
   */
  hostFiles(directories: readonly string[] = this.host?.allowed ?? []): HostFiles {
    return this.#parts.openHost(directories)
  }

  /**
   * Changes at or below a path, made by whichever process, from now until the loop is left.
   * Zones in a vault, the workspace and writable vault mounts report changes; other mounts do not.
   */
  watch(path: string, ctx?: CallContext): AsyncGenerator<PathChange> {
    return watchMounts(this.#parts.table.mounts(), path, ctx)
  }

  /** Closes what was opened for it. Twice is as good as once. */
  close(): Promise<void> {
    return this.#parts.cleanup.close()
  }

  [Symbol.asyncDispose](): Promise<void> {
    return this.close()
  }
}
