import { type DirectoryHandle, openRoot, type RootConfinement } from '../../machine/index.ts'
import { isVfsError } from '../../vfs/index.ts'
import { ClosedDirectories, type ClosedOptions } from './closed-directories.ts'
import { attempt, type HostCall, HostFsFault } from './host-errors.ts'
import { type ConfinedPath, getEntry, type LocateOptions, PathResolution } from './path-resolution.ts'

/**
 * The tree below one directory of the machine. Every path is resolved here, one component after another, and the result
 * is inside the root: a link that leads out is EACCES. The root is opened at first use and stays the same directory,
 * even if it is renamed.
 */
export class ConfinedTree {
  readonly #dir: string
  readonly #confinement: RootConfinement | undefined
  /** Directories inside the root that no operation may reach. */
  readonly closed: ClosedDirectories | undefined
  #root: DirectoryHandle | undefined
  #isClosed = false

  constructor(dir: string, confinement: RootConfinement | undefined, closed: ClosedOptions | undefined) {
    this.#dir = dir
    this.#confinement = confinement
    this.closed = closed && new ClosedDirectories(closed)
  }

  /** Resolves a path. ENOENT (or ENOTDIR), EACCES, ELOOP. */
  locate(call: HostCall, options: LocateOptions): ConfinedPath {
    return attempt(call, () => {
      this.closed?.refresh()
      this.#root ??= this.#open()
      return new PathResolution(this.#root, call.path, options, this.closed).run()
    })
  }

  /** Resolves a path to move or remove. EACCES for a directory that contains a closed one. */
  locateMovable(call: HostCall, options: LocateOptions): ConfinedPath {
    const found = this.locate(call, options)
    try {
      const { entry } = found
      if (entry !== undefined) attempt(call, () => this.closed?.assertMovable(entry))
      return found
    } catch (error) {
      found.directory.close()
      throw error
    }
  }

  /** Runs a synchronous step on a resolved path. */
  runAt<T>(call: HostCall, options: LocateOptions, step: (found: ConfinedPath) => T): T {
    const found = this.locate(call, options)
    try {
      return attempt(call, () => step(found))
    } finally {
      found.directory.close()
    }
  }

  /** Like `runAt`, but returns undefined for a path in a missing directory. */
  runIfPresent<T>(call: HostCall, options: LocateOptions, step: (found: ConfinedPath) => T): T | undefined {
    try {
      return this.runAt(call, options, step)
    } catch (error) {
      if (isVfsError(error, 'ENOENT')) return undefined
      throw error
    }
  }

  /** Opens the directory at a path. ENOENT, ENOTDIR. */
  openDirectory(call: HostCall, options: LocateOptions): DirectoryHandle {
    return this.runAt(call, options, (found) => {
      getEntry(found)
      return found.directory.enter(found.name)
    })
  }

  /** Closes the root. Resolved paths stay valid until they are closed; new ones are EBADF. */
  close(): void {
    this.#isClosed = true
    this.#root?.close()
    this.#root = undefined
  }

  #open(): DirectoryHandle {
    if (this.#isClosed) throw new HostFsFault('EBADF', 'the file system is closed; open it again')
    return openRoot(this.#dir, this.#confinement, this.closed).closeOnFinalize()
  }
}
