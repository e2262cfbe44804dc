import { DEFAULT_PROTECTED_NAMES, ProtectedNames } from '../../access/index.ts'
import { type FileSystem, isVfsError, isWithin, MountTable, VfsError } from '../../vfs/index.ts'
import {
  type AllowedDirectory,
  isReplaced,
  resolveAllowedDirectories,
  resolveAllowedDirectory,
} from './allowed-directories.ts'
import { HookedFs, type HostHooks } from './hooked-fs.ts'
import { assertHostPath } from './host-path.ts'
import { resolveRealPath } from './real-path.ts'

/** A file system of one directory; disposed of with the `HostFiles` if possible. */
type OpenedDirectory = FileSystem & Partial<AsyncDisposable>

/** Options of `HostFiles`. */
export interface HostFilesOptions {
  /** Absolute paths of the directories that agents may use. */
  readonly allow: readonly string[]
  /** Opens a host directory as a confined file system. */
  readonly open: (directory: string) => OpenedDirectory
  readonly hooks?: HostHooks
  /** Globs of names that are never written; `DEFAULT_PROTECTED_NAMES` when absent. */
  readonly protect?: readonly string[]
}

/** A resolved host path. */
export interface HostTarget {
  /** All allowed directories, for one call: it runs the hooks once for each file. */
  readonly fs: FileSystem
  /** Real path: absolute on the host, and in `fs`. */
  readonly path: string
  /** Path as given. */
  readonly display: string
}

/**
 * Host files within an allow-list of directories. A path is checked by its real path, on whole
 * segments, and opened only through its allowed directory: replacing a link after the check has no
 * effect. The target's file system enforces protected names and hooks for every tool.
 */
export class HostFiles implements AsyncDisposable {
  readonly #open: HostFilesOptions['open']
  readonly #hooks: HostHooks
  readonly #protected: ProtectedNames
  #granted: readonly AllowedDirectory[] = []
  #narrowed: readonly string[] | null = null
  #table = new MountTable()
  /** Open directories. One that was removed from the list finishes its pending calls. */
  #opened = new Map<string, OpenedDirectory>()

  /** EINVAL, ENOENT, ENOTDIR if a directory cannot be allowed. */
  constructor({ allow, open, hooks = {}, protect = DEFAULT_PROTECTED_NAMES }: HostFilesOptions) {
    this.#open = open
    this.#hooks = hooks
    this.#protected = new ProtectedNames(protect)
    this.setAllowed(allow)
  }

  /** Real paths of the directories allowed now. */
  get allowed(): readonly string[] {
    return this.#narrowed ?? this.#granted.map(({ path }) => path)
  }

  /** Replaces the allow-list; pending calls finish. Fails like the constructor, and then changes nothing. */
  setAllowed(directories: readonly string[]): void {
    this.#granted = resolveAllowedDirectories(directories)
    this.#narrowed = null
    this.#table = new MountTable()
    this.#opened = new Map()
    for (const directory of this.#granted) this.#mount(directory)
  }

  /**
   * Restricts the allow-list to these directories, in place of an earlier restriction; null lifts it.
   * A directory that is missing or elsewhere allows nothing.
   */
  narrow(directories: readonly string[] | null): void {
    this.#narrowed = directories?.flatMap((directory) => this.#intersectAllowed(directory)) ?? null
  }

  /** Resolves a path of an agent. EINVAL if malformed, EACCES if not allowed, ENOENT if its directory is missing. */
  async locate(path: string): Promise<HostTarget> {
    const real = await resolveRealPath(assertHostPath(path))
    const granted = this.#granted.find((directory) => isWithin(real, directory.path))
    if (granted === undefined || !this.allowed.some((directory) => isWithin(real, directory))) {
      throw this.#createAccessError(path)
    }
    if (isReplaced(granted)) this.#remount(granted)
    const fs = new HookedFs(this.#table, this.#hooks, this.#protected)
    return { fs, path: real, display: path }
  }

  /** Releases the directories. */
  async close(): Promise<void> {
    const opened = [...this.#opened.values()]
    this.#opened.clear()
    for (const fs of opened) await fs[Symbol.asyncDispose]?.()
  }

  [Symbol.asyncDispose](): Promise<void> {
    return this.close()
  }

  #mount({ path }: AllowedDirectory): void {
    const fs = this.#open(path)
    this.#opened.set(path, fs)
    this.#table.mount(path, fs, { replace: true })
  }

  /** Reopens a directory that was removed and recreated, which a writer inside it cannot cause. */
  #remount(granted: AllowedDirectory): void {
    const current = resolveAllowedDirectory(granted.path)
    if (current.path !== granted.path) throw this.#createAccessError(granted.path)
    this.#granted = this.#granted.map((directory) => (directory === granted ? current : directory))
    this.#mount(current)
  }

  /** Returns the intersection of a directory and the allow-list. */
  #intersectAllowed(directory: string): string[] {
    const wanted = findRealDirectory(directory)
    if (wanted === undefined) return []
    const granted = this.#granted.map(({ path }) => path)
    if (granted.some((path) => isWithin(wanted, path))) return [wanted]
    return granted.filter((path) => isWithin(path, wanted))
  }

  #createAccessError(path: string): VfsError {
    const { allowed } = this
    const detail =
      allowed.length === 0
        ? 'no directory of this machine is allowed; use vfs:/// paths'
        : `not in an allowed directory of this machine; allowed: ${allowed.join(', ')}`
    return new VfsError('EACCES', path, { op: 'locate', detail })
  }
}

function findRealDirectory(directory: string): string | undefined {
  try {
    return resolveAllowedDirectory(directory).path
  } catch (error) {
    if (isVfsError(error)) return undefined
    throw error
  }
}
