import { lstatSync, mkdirSync, readlinkSync, type Stats } from 'node:fs'
import { type DirectoryHandle, findRealPath, isErrno, isTemporaryName } from '../../machine/index.ts'
import { dirname, relativeTo } from '../../vfs/index.ts'
import type { ClosedDirectories } from './closed-directories.ts'
import { HostFsFault } from './host-errors.ts'

const MAX_HOPS = 40

/** Options for links in a path. */
export interface LinkOptions {
  /** Throw ELOOP instead of following a link. */
  readonly linkFree?: boolean
}

export interface LocateOptions extends LinkOptions {
  /** Follow the last component if it is a link. */
  readonly follow: boolean
  /** The path will be created: a file among its parents is ENOTDIR instead of ENOENT. */
  readonly storing?: boolean
  /** Create missing parent directories. */
  readonly parents?: boolean
  /** Resolve a path to nothing too: from the first missing directory on, its names stay as they are. */
  readonly lenient?: boolean
  /** Throw EINVAL if the path leads through this directory. */
  readonly notThrough?: Stats
}

/** A name in an open directory inside the root, with its stats. Close the directory after use. */
export interface ConfinedPath {
  readonly directory: DirectoryHandle
  /** `.` for the directory itself. */
  readonly name: string
  /** The stats of the entry, without following a link. */
  readonly entry: Stats | undefined
  /** The real path below the root. Only the last name may be a link. */
  readonly path: string
}

/** Resolves one path. It holds one open directory at a time. */
export class PathResolution {
  readonly #root: DirectoryHandle
  readonly #options: LocateOptions
  readonly #closed: ClosedDirectories | undefined
  /** Remaining components, the next one last. */
  readonly #pending: string[]
  /** The names from the root to the current directory, without links. */
  #names: string[] = []
  /** The names after that, of directories that are missing. */
  readonly #missing: string[] = []
  #current: DirectoryHandle
  #hops = 0

  constructor(
    root: DirectoryHandle,
    path: string,
    options: LocateOptions,
    closed: ClosedDirectories | undefined,
  ) {
    this.#root = root
    this.#options = options
    this.#closed = closed
    this.#pending = path.split('/').reverse()
    this.#current = root.retain()
  }

  run(): ConfinedPath {
    try {
      for (let name = this.#pending.pop(); name !== undefined; name = this.#pending.pop()) {
        if (name === '' || name === '.') continue
        if (name === '..') {
          if (this.#missing.pop() === undefined) this.#goUp()
          continue
        }
        if (this.#missing.length > 0) {
          this.#missing.push(name)
          continue
        }
        if (isTemporaryName(name)) throw this.#createReservedFault()
        if (this.#pending.length > 0) {
          this.#enter(name)
          continue
        }
        const entry = this.#lstat(name)
        if (!entry?.isSymbolicLink() || !this.#options.follow) return this.#toConfinedPath(name, entry)
        this.#follow(name)
      }
      return this.#missing.length > 0 ? this.#toMissingPath() : this.#toConfinedPath('.', this.#lstat('.'))
    } catch (error) {
      this.#current.close()
      throw error
    }
  }

  #toConfinedPath(name: string, entry: Stats | undefined): ConfinedPath {
    this.#current.assertInsideRoot()
    if (entry === undefined) this.#assertMakeable(name)
    else this.#closed?.assertOpen(entry)
    const names = name === '.' ? this.#names : [...this.#names, name]
    return { directory: this.#current, name, entry, path: `/${names.join('/')}` }
  }

  #toMissingPath(): ConfinedPath {
    const [first = ''] = this.#missing
    const { directory, path } = this.#toConfinedPath(first, undefined)
    const below = this.#missing.slice(1)
    return { directory, name: this.#missing.join('/'), entry: undefined, path: [path, ...below].join('/') }
  }

  /** Enters a component that must be a directory or a link to one. Creates a missing one if `parents` is set. */
  #enter(name: string, parents = this.#options.parents): void {
    try {
      this.#moveTo(this.#current.enter(name))
      this.#names.push(name)
      this.#assertAllowed()
    } catch (error) {
      if (isErrno(error, 'ENOENT') && parents) this.#createDirectory(name)
      else if (isErrno(error, 'ENOENT') && this.#options.lenient) this.#missing.push(name)
      else if (isErrno(error, 'ENOTDIR', 'ELOOP')) this.#enterLinkOrRetry(name)
      else throw error
    }
  }

  /** Follows a link. Retries an entry that became a directory, or was removed, since it could not be entered. */
  #enterLinkOrRetry(name: string): void {
    const entry = this.#lstat(name)
    if (entry?.isSymbolicLink()) this.#follow(name)
    else if (entry === undefined || entry.isDirectory()) this.#retry(name)
    else if (this.#options.lenient) this.#missing.push(name)
    else throw new HostFsFault(this.#options.storing ? 'ENOTDIR' : 'ENOENT')
  }

  #createDirectory(name: string): void {
    this.#assertMakeable(name)
    try {
      mkdirSync(this.#current.at(name))
    } catch (error) {
      if (!isErrno(error, 'EEXIST')) throw error
    }
    this.#enter(name, false)
  }

  #assertMakeable(name: string): void {
    this.#closed?.assertMakeable(() => lstatSync(this.#current.at('.')), name)
  }

  /** Retries an entry that was replaced meanwhile. It counts as a hop, so that replacing it forever cannot block us. */
  #retry(name: string): void {
    this.#countHop()
    this.#pending.push(name)
  }

  #follow(name: string): void {
    if (this.#options.linkFree)
      throw new HostFsFault(
        'ELOOP',
        'the path leads through a symbolic link, and this call must not follow links; use the real path',
      )
    this.#countHop()
    const target = readlinkSync(this.#current.at(name))
    if (target.startsWith('/')) this.#restart(this.#toNames(target))
    else this.#pushPending(target.split('/'))
  }

  /** Handles `..` in a link's target. A path above the root may still lead back in by the root's own name. */
  #goUp(): void {
    if (this.#names.length > 0) {
      this.#restart(this.#names.slice(0, -1))
      return
    }
    const rest = this.#pending.splice(0).reverse().join('/')
    this.#restart(this.#toNames(`${dirname(this.#root.realPath())}/${rest}`))
  }

  /**
   * Returns the names from the root to a path of the machine: the part after the first component that is inside. The
   * names are resolved again from the root, so nothing depends on their staying valid.
   */
  #toNames(hostPath: string): string[] {
    const root = this.#root.realPath()
    const names = hostPath.split('/')
    for (let end = 1; end <= names.length; end++) {
      const real = findRealPath(names.slice(0, end).join('/') || '/')
      const inside = real === undefined ? null : relativeTo(real, root)
      if (inside !== null) return [...inside.split('/'), ...names.slice(end)]
      if (real === undefined) break
    }
    throw new HostFsFault('EACCES', 'a symbolic link leads out of the directory')
  }

  #assertAllowed(): void {
    const { notThrough } = this.#options
    const current = notThrough && this.#lstat('.')
    if (current && isSameFile(current, notThrough)) throw new HostFsFault('EINVAL')
  }

  #restart(names: readonly string[]): void {
    this.#moveTo(this.#root.retain())
    this.#names = []
    this.#pushPending(names)
  }

  #moveTo(directory: DirectoryHandle): void {
    this.#current.close()
    this.#current = directory
  }

  #pushPending(names: readonly string[]): void {
    this.#pending.push(...names.toReversed())
  }

  #lstat(name: string): Stats | undefined {
    return lstatSync(this.#current.at(name), { throwIfNoEntry: false })
  }

  #countHop(): void {
    if (++this.#hops > MAX_HOPS) throw new HostFsFault('ELOOP')
  }

  #createReservedFault(): HostFsFault {
    return this.#options.storing
      ? new HostFsFault('EINVAL', 'the name is reserved for temporary files; use another name')
      : new HostFsFault('ENOENT')
  }
}

/** Returns the stats of a resolved path. Throws ENOENT if nothing is there. */
export function getEntry({ entry }: ConfinedPath): Stats {
  if (entry === undefined) throw new HostFsFault('ENOENT')
  return entry
}

export function isSameFile(one: Stats, other: Stats): boolean {
  return one.ino === other.ino && one.dev === other.dev
}
