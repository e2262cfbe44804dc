import { lstatSync, mkdirSync, readlinkSync, type Stats } from 'node:fs'
import {
  type DirectoryHandle,
  findRealPath,
  isErrno,
  isTemporaryName,
  openRoot,
  type RootConfinement,
} from '../../machine/index.ts'
import { dirname, relativeTo } from '../../vfs/index.ts'
import { ClosedDirectories, type ClosedOptions } from './closed-directories.ts'
import { attempt, type HostCall, HostFsFault } from './host-errors.ts'

const MAX_HOPS = 40

/** Whether links count. */
export interface LinkOptions {
  /** A link that would be followed is ELOOP. */
  readonly linkFree?: boolean
}

export interface LocateOptions extends LinkOptions {
  /** Follow the last component if it is a link. */
  readonly follow: boolean
  /** Something is to be made there: a file on the way is ENOTDIR, where a look says ENOENT. */
  readonly storing?: boolean
  /** Make missing directories on the way. */
  readonly parents?: boolean
  /** EINVAL if the way leads through this directory. */
  readonly notThrough?: Stats
}

/** A name in a directory inside the root, and what was there when it was found. Close the directory after use. */
export interface ConfinedPath {
  readonly directory: DirectoryHandle
  /** `.` when the place is the directory itself. */
  readonly name: string
  /** Described without following links. */
  readonly entry: Stats | undefined
  /** Its path below the root, free of links but for a last one that was not followed. */
  readonly path: string
}

/**
 * The tree below one directory of the machine. Every path of every operation is resolved here, one component after
 * another, and what it resolves to is inside the root: a link that leads out is EACCES.
 * The root is opened at first use and stays the same directory from then on, even if it is renamed.
 */
export class ConfinedTree {
  readonly #dir: string
  readonly #confinement: RootConfinement | undefined
  /** What no operation reaches though it is inside the root. */
  readonly closed: ClosedDirectories | undefined
  #root: DirectoryHandle | undefined
  #isClosed = false

  constructor(dir: string, confinement: RootConfinement | undefined, closed: ClosedOptions | undefined) {
    this.#dir = dir
    this.#confinement = confinement
    this.closed = closed && new ClosedDirectories(closed)
  }

  /** Finds the place of a path. ENOENT (or ENOTDIR), EACCES, ELOOP. */
  locate(asked: HostCall, options: LocateOptions): ConfinedPath {
    return attempt(asked, () => {
      this.closed?.refresh()
      this.#root ??= this.#open()
      return new PathResolution(this.#root, asked.path, options, this.closed).run()
    })
  }

  /** As `locate`, for what is to be moved or removed. EACCES for a directory that contains a closed one. */
  locateMovable(asked: HostCall, options: LocateOptions): ConfinedPath {
    const place = this.locate(asked, options)
    try {
      const { entry } = place
      if (entry !== undefined) attempt(asked, () => this.closed?.assertMovable(entry))
      return place
    } catch (error) {
      place.directory.close()
      throw error
    }
  }

  /** Runs a synchronous step at the place of a path. */
  runAt<T>(asked: HostCall, options: LocateOptions, step: (place: ConfinedPath) => T): T {
    const place = this.locate(asked, options)
    try {
      return attempt(asked, () => step(place))
    } finally {
      place.directory.close()
    }
  }

  /** The directory at a path, opened. ENOENT, ENOTDIR. */
  openDirectory(asked: HostCall, way: LocateOptions): DirectoryHandle {
    return this.runAt(asked, way, ({ directory, name, entry }) => {
      if (entry === undefined) throw new HostFsFault('ENOENT')
      return directory.enter(name)
    })
  }

  /** Places that were located stay good until they are closed; nothing is located any more: EBADF. */
  close(): void {
    this.#isClosed = true
    this.#root?.close()
    this.#root = undefined
  }

  #open(): DirectoryHandle {
    if (this.#isClosed) throw new HostFsFault('EBADF', 'the file system is closed')
    return openRoot(this.#dir, this.#confinement, this.closed).closeOnFinalize()
  }
}

/** One path on its way to a place. It stands on one open directory at a time. */
class PathResolution {
  readonly #root: DirectoryHandle
  readonly #options: LocateOptions
  readonly #closed: ClosedDirectories | undefined
  /** Components still to go, the next one last. */
  readonly #pending: string[]
  /** The names from the root to where it stands, free of links. */
  #names: string[] = []
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
          this.#goUp()
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
      return this.#toConfinedPath('.', this.#lstat('.'))
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

  /** Goes through a component that has to be a directory, or a link to one. */
  #enter(name: string, parents = this.#options.parents): void {
    try {
      this.#moveTo(this.#current.enter(name))
      this.#names.push(name)
      this.#assertAllowed()
    } catch (error) {
      if (isErrno(error, 'ENOENT') && parents) this.#createDirectory(name)
      else if (isErrno(error, 'ENOTDIR', 'ELOOP')) this.#enterLinkOrCreate(name)
      else throw error
    }
  }

  #enterLinkOrCreate(name: string): void {
    const entry = this.#lstat(name)
    if (entry?.isSymbolicLink()) this.#follow(name)
    else if (entry === undefined || entry.isDirectory()) this.#retry(name)
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

  /** For what somebody replaced just now. It counts as a hop, so that they cannot keep us here. */
  #retry(name: string): void {
    this.#countHop()
    this.#pending.push(name)
  }

  #follow(name: string): void {
    if (this.#options.linkFree)
      throw new HostFsFault('ELOOP', 'a symbolic link is on the way, and the call follows none')
    this.#countHop()
    const target = readlinkSync(this.#current.at(name))
    if (target.startsWith('/')) this.#restart(this.#toNames(target))
    else this.#pushPending(target.split('/'))
  }

  /** `..` in a link's target. Above the root it may still come back in, by the root's own name. */
  #goUp(): void {
    if (this.#names.length > 0) {
      this.#restart(this.#names.slice(0, -1))
      return
    }
    const rest = this.#pending.splice(0).reverse().join('/')
    this.#restart(this.#toNames(`${dirname(this.#root.realPath())}/${rest}`))
  }

  /**
   * The names that lead from the root to a path of the machine: what follows the first of its components that is
   * really inside. It is only a way to go, walked again from the root, so nothing depends on it staying true.
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
    throw new HostFsFault('EACCES', 'a symbolic link leaves the root')
  }

  #assertAllowed(): void {
    const { notThrough } = this.#options
    const here = notThrough && this.#lstat('.')
    if (here && isSameFile(here, notThrough)) throw new HostFsFault('EINVAL')
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
      ? new HostFsFault('EINVAL', 'the name is reserved for files that are being written')
      : new HostFsFault('ENOENT')
  }
}

export function isSameFile(one: Stats, other: Stats): boolean {
  return one.ino === other.ino && one.dev === other.dev
}
