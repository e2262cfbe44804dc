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

/** A file system of one directory; disposed of with the `HostFiles` if it can be. */
type OpenedDirectory = FileSystem & Partial<AsyncDisposable>

export interface HostFilesOptions {
  /** The directories agents may use, with all that is in them; absolute paths. */
  readonly allow: readonly string[]
  /** Opens a directory of this machine as a file system that nothing leads out of. */
  readonly open: (directory: string) => OpenedDirectory
  readonly hooks?: HostHooks
  /** Globs of names in them that are never written; `USUALLY_PROTECTED` when absent. */
  readonly protect?: readonly string[]
}

/** Where a path of this machine is. */
export interface HostTarget {
  /** Every allowed directory at its place, for this one call: it asks the hooks once for each file. */
  readonly fs: FileSystem
  /** The real path: absolute on this machine, and in `fs`. */
  readonly path: string
  /** The path as it was asked for. */
  readonly display: string
}

/**
 * Files of this machine within an allow-list of directories. A path is judged where it really leads, on whole
 * segments, and reached only through the allowed directory it is in: whoever swaps a link in after the check gains
 * nothing. Protected names are not written, hooks are asked; both happen in the place's file system, whatever the tool.
 */
export class HostFiles implements AsyncDisposable {
  readonly #open: HostFilesOptions['open']
  readonly #hooks: HostHooks
  readonly #protected: ProtectedNames
  #granted: readonly AllowedDirectory[] = []
  #narrowed: readonly string[] | null = null
  #table = new MountTable()
  /** What is mounted. One that no longer is finishes what is under way, and is forgotten. */
  #opened = new Map<string, OpenedDirectory>()

  /** EINVAL, ENOENT, ENOTDIR if a directory of the list cannot be allowed. */
  constructor({ allow, open, hooks = {}, protect = DEFAULT_PROTECTED_NAMES }: HostFilesOptions) {
    this.#open = open
    this.#hooks = hooks
    this.#protected = new ProtectedNames(protect)
    this.setAllowed(allow)
  }

  /** The real paths of the directories that may be used now. */
  get allowed(): readonly string[] {
    return this.#narrowed ?? this.#granted.map(({ path }) => path)
  }

  /** Replaces the allow-list; what is under way finishes. Fails as the constructor does, and then changes nothing. */
  setAllowed(directories: readonly string[]): void {
    this.#granted = resolveAllowedDirectories(directories)
    this.#narrowed = null
    this.#table = new MountTable()
    this.#opened = new Map()
    for (const directory of this.#granted) this.#mount(directory)
  }

  /**
   * Allows only what is both in the allow-list and in these directories, until the next call; null for the whole
   * list. A directory that is missing or elsewhere allows nothing.
   */
  narrow(directories: readonly string[] | null): void {
    this.#narrowed = directories?.flatMap((directory) => this.#intersectAllowed(directory)) ?? null
  }

  /** Finds a path an agent gives. EINVAL if it is none, EACCES if it is not allowed, ENOENT if its directory is gone. */
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

  /** For a directory that was removed and made again. Nobody who may only write in it can do that to it. */
  #remount(granted: AllowedDirectory): void {
    const now = resolveAllowedDirectory(granted.path)
    if (now.path !== granted.path) throw this.#createAccessError(granted.path)
    this.#granted = this.#granted.map((directory) => (directory === granted ? now : directory))
    this.#mount(now)
  }

  /** What a directory and the allow-list have in common. */
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
