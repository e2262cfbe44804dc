import { lstatSync, mkdirSync, readlinkSync, type Stats } from 'node:fs'
import { type Confinement, type Directory, isTemporary, openRoot, realPathOf } from '../../machine/index.ts'
import { dirname, relativeTo } from '../../vfs/index.ts'
import { ClosedDirectories, type ClosedOptions } from './closed-directories.ts'
import { type Asked, attempt, Fault, isErrno } from './host-errors.ts'

const MAX_HOPS = 40

/** Whether links count. */
export interface Links {
  /** A link that would be followed is ELOOP. */
  readonly linkFree?: boolean
}

export interface LocateOptions extends Links {
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
export interface Place {
  readonly directory: Directory
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
  readonly #confinement: Confinement | undefined
  /** What no operation reaches though it is inside the root. */
  readonly closed: ClosedDirectories | undefined
  #root: Directory | undefined
  #isClosed = false

  constructor(dir: string, confinement: Confinement | undefined, closed: ClosedOptions | undefined) {
    this.#dir = dir
    this.#confinement = confinement
    this.closed = closed && new ClosedDirectories(closed)
  }

  /** Finds the place of a path. ENOENT (or ENOTDIR), EACCES, ELOOP. */
  locate(asked: Asked, options: LocateOptions): Place {
    return attempt(asked, () => {
      this.closed?.refresh()
      this.#root ??= this.#open()
      return new Resolution(this.#root, asked.path, options, this.closed).run()
    })
  }

  /** As `locate`, for what is to be moved or removed. EACCES for a directory that contains a closed one. */
  locateMovable(asked: Asked, options: LocateOptions): Place {
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
  use<T>(asked: Asked, options: LocateOptions, step: (place: Place) => T): T {
    const place = this.locate(asked, options)
    try {
      return attempt(asked, () => step(place))
    } finally {
      place.directory.close()
    }
  }

  /** The directory at a path, opened. ENOENT, ENOTDIR. */
  enter(asked: Asked, way: LocateOptions): Directory {
    return this.use(asked, way, ({ directory, name, entry }) => {
      if (entry === undefined) throw new Fault('ENOENT')
      return directory.enter(name)
    })
  }

  /** Places that were located stay good until they are closed; nothing is located any more: EBADF. */
  close(): void {
    this.#isClosed = true
    this.#root?.close()
    this.#root = undefined
  }

  #open(): Directory {
    if (this.#isClosed) throw new Fault('EBADF', 'the file system is closed')
    return openRoot(this.#dir, this.#confinement, this.closed).guard()
  }
}

/** One path on its way to a place. It stands on one open directory at a time. */
class Resolution {
  readonly #root: Directory
  readonly #options: LocateOptions
  readonly #closed: ClosedDirectories | undefined
  /** Components still to go, the next one last. */
  readonly #pending: string[]
  /** The names from the root to where it stands, free of links. */
  #names: string[] = []
  #here: Directory
  #hops = 0

  constructor(root: Directory, path: string, options: LocateOptions, closed: ClosedDirectories | undefined) {
    this.#root = root
    this.#options = options
    this.#closed = closed
    this.#pending = path.split('/').reverse()
    this.#here = root.share()
  }

  run(): Place {
    try {
      for (let name = this.#pending.pop(); name !== undefined; name = this.#pending.pop()) {
        if (name === '' || name === '.') continue
        if (name === '..') {
          this.#leave()
          continue
        }
        if (isTemporary(name)) throw this.#reserved()
        if (this.#pending.length > 0) {
          this.#pass(name)
          continue
        }
        const entry = this.#lstat(name)
        if (!entry?.isSymbolicLink() || !this.#options.follow) return this.#found(name, entry)
        this.#follow(name)
      }
      return this.#found('.', this.#lstat('.'))
    } catch (error) {
      this.#here.close()
      throw error
    }
  }

  #found(name: string, entry: Stats | undefined): Place {
    this.#here.confirm()
    if (entry === undefined) this.#assertMakeable(name)
    else this.#closed?.assertOpen(entry)
    const names = name === '.' ? this.#names : [...this.#names, name]
    return { directory: this.#here, name, entry, path: `/${names.join('/')}` }
  }

  /** Goes through a component that has to be a directory, or a link to one. */
  #pass(name: string, parents = this.#options.parents): void {
    try {
      this.#moveTo(this.#here.enter(name))
      this.#names.push(name)
      this.#assertAllowed()
    } catch (error) {
      if (isErrno(error, 'ENOENT') && parents) this.#make(name)
      else if (isErrno(error, 'ENOTDIR', 'ELOOP')) this.#passOther(name)
      else throw error
    }
  }

  #passOther(name: string): void {
    const entry = this.#lstat(name)
    if (entry?.isSymbolicLink()) this.#follow(name)
    else if (entry === undefined || entry.isDirectory()) this.#again(name)
    else throw new Fault(this.#options.storing ? 'ENOTDIR' : 'ENOENT')
  }

  #make(name: string): void {
    this.#assertMakeable(name)
    try {
      mkdirSync(this.#here.at(name))
    } catch (error) {
      if (!isErrno(error, 'EEXIST')) throw error
    }
    this.#pass(name, false)
  }

  #assertMakeable(name: string): void {
    this.#closed?.assertMakeable(() => lstatSync(this.#here.at('.')), name)
  }

  /** For what somebody replaced just now. It counts as a hop, so that they cannot keep us here. */
  #again(name: string): void {
    this.#countHop()
    this.#pending.push(name)
  }

  #follow(name: string): void {
    if (this.#options.linkFree)
      throw new Fault('ELOOP', 'a symbolic link is on the way, and the call follows none')
    this.#countHop()
    const target = readlinkSync(this.#here.at(name))
    if (target.startsWith('/')) this.#restart(this.#namesOf(target))
    else this.#expect(target.split('/'))
  }

  /** `..` in a link's target. Above the root it may still come back in, by the root's own name. */
  #leave(): void {
    if (this.#names.length > 0) {
      this.#restart(this.#names.slice(0, -1))
      return
    }
    const rest = this.#pending.splice(0).reverse().join('/')
    this.#restart(this.#namesOf(`${dirname(this.#root.realPath())}/${rest}`))
  }

  /**
   * The names that lead from the root to a path of the machine: what follows the first of its components that is
   * really inside. It is only a way to go, walked again from the root, so nothing depends on it staying true.
   */
  #namesOf(hostPath: string): string[] {
    const root = this.#root.realPath()
    const names = hostPath.split('/')
    for (let end = 1; end <= names.length; end++) {
      const real = realPathOf(names.slice(0, end).join('/') || '/')
      const inside = real === undefined ? null : relativeTo(real, root)
      if (inside !== null) return [...inside.split('/'), ...names.slice(end)]
      if (real === undefined) break
    }
    throw new Fault('EACCES', 'a symbolic link leaves the root')
  }

  #assertAllowed(): void {
    const { notThrough } = this.#options
    const here = notThrough && this.#lstat('.')
    if (here && isSameFile(here, notThrough)) throw new Fault('EINVAL')
  }

  #restart(names: readonly string[]): void {
    this.#moveTo(this.#root.share())
    this.#names = []
    this.#expect(names)
  }

  #moveTo(directory: Directory): void {
    this.#here.close()
    this.#here = directory
  }

  #expect(names: readonly string[]): void {
    this.#pending.push(...names.toReversed())
  }

  #lstat(name: string): Stats | undefined {
    return lstatSync(this.#here.at(name), { throwIfNoEntry: false })
  }

  #countHop(): void {
    if (++this.#hops > MAX_HOPS) throw new Fault('ELOOP')
  }

  #reserved(): Fault {
    return this.#options.storing
      ? new Fault('EINVAL', 'the name is reserved for files that are being written')
      : new Fault('ENOENT')
  }
}

export function isSameFile(one: Stats, other: Stats): boolean {
  return one.ino === other.ino && one.dev === other.dev
}
