import { assertFileSystem } from '../assert-file-system.ts'
import { VfsError } from '../error.ts'
import type { FileSystem } from '../file-system.ts'
import { ancestors, basename, dirname, normalize } from '../path.ts'
import { Mount } from './mount.ts'

/** Mount number of the synthetic directories. */
const SYNTHETIC_NUMBER = 0

/** The mounts of a table, the route from a path to its mount, and the synthetic directories that lead to mounts. */
export class MountPoints {
  readonly #mounts = new Map<string, Mount>()
  #deepest = 0
  #syntheticNumbers: Map<string, number> | undefined
  #synthetic: ReadonlyMap<string, readonly string[]> | null = null

  add(path: string, fs: FileSystem, replace: boolean): Mount {
    const mountPoint = normalize(path)
    assertFileSystem(fs, mountPoint, 'mount')
    if (this.#mounts.has(mountPoint) && !replace) {
      throw new VfsError('EEXIST', mountPoint, {
        op: 'mount',
        detail: 'another file system is mounted there; pass replace: true',
      })
    }
    const mount = new Mount(mountPoint, fs, this.#allocateNumber(mountPoint))
    this.#mounts.set(mountPoint, mount)
    this.#invalidate()
    return mount
  }

  remove(path: string): void {
    const mountPoint = normalize(path)
    if (!this.#mounts.delete(mountPoint))
      throw new VfsError('ENOENT', mountPoint, { op: 'unmount', detail: 'nothing is mounted there' })
    this.#invalidate()
  }

  has(path: string): boolean {
    return this.#mounts.has(path)
  }

  get(path: string): Mount | undefined {
    return this.#mounts.get(path)
  }

  /** Lists all mounts, the longest mount point first. */
  list(): Mount[] {
    return [...this.#mounts.values()].sort(
      (a, b) => b.path.length - a.path.length || (a.path < b.path ? -1 : 1),
    )
  }

  hasSameMountPoints(other: MountPoints): boolean {
    return (
      this.#mounts.size === other.#mounts.size && [...this.#mounts.keys()].every((path) => other.has(path))
    )
  }

  /**
   * Returns the mount with the longest prefix of whole segments. Looks no deeper than the deepest mount point, so the
   * cost depends neither on the number of mounts nor on the length of the path.
   */
  route(path: string): Mount | undefined {
    let found = this.#mounts.get('/')
    let end = 0
    for (let depth = 0; depth < this.#deepest; depth++) {
      end = path.indexOf('/', end + 1)
      const mount = this.#mounts.get(end === -1 ? path : path.slice(0, end))
      if (mount !== undefined) found = mount
      if (end === -1) break
    }
    return found
  }

  /** Returns the mount that serves a path. Throws ENOENT if the path is outside of every mount. */
  getServingMount(path: string, op: string): Mount {
    const mount = this.route(path)
    if (mount !== undefined) return mount
    throw new VfsError('ENOENT', path, { op, detail: 'nothing is mounted there' })
  }

  /**
   * Returns the mount that serves a path; undefined for a synthetic directory, or the root, outside of every mount. Throws
   * ENOENT for any other path outside of every mount.
   */
  findServingMount(path: string, op: string): Mount | undefined {
    return path === '/' || this.isImplied(path) ? this.route(path) : this.getServingMount(path, op)
  }

  /** Returns the mount of a file. Throws EISDIR for a mount point or a synthetic directory. */
  getFileMount(path: string, op: string): Mount {
    if (this.isImplied(path)) throw new VfsError('EISDIR', path, { op })
    return this.getServingMount(path, op)
  }

  /** Returns the mount that serves both paths. Throws EXDEV if there are two. */
  getCommonMount(path: string, to: string, op: string, hint: string): Mount {
    const mount = this.getServingMount(path, op)
    if (this.route(to) === mount) return mount
    const detail = `'${to}' is on another mount; ${hint}`
    throw new VfsError('EXDEV', path, { op, mount: mount.path, detail })
  }

  /** Throws EINVAL for a mount point and for a directory above one. */
  assertNoMountPoint(path: string, op: string): void {
    if (!this.isImplied(path)) return
    const kind = this.has(path) ? 'a mount point' : 'a directory with a mount point below it'
    throw new VfsError('EINVAL', path, { op, detail: `the path is ${kind}; unmount first` })
  }

  /** Returns the inode number of a synthetic directory; the first call assigns it. */
  syntheticIno(path: string): number {
    this.#syntheticNumbers ??= new Map()
    const number = this.#syntheticNumbers.get(path) ?? this.#syntheticNumbers.size + 1
    this.#syntheticNumbers.set(path, number)
    return Mount.toTableIno(number, SYNTHETIC_NUMBER)
  }

  /** Returns the names in a directory that are, or lead to, mount points, sorted; undefined if there are none. */
  findNamesIn(directory: string): readonly string[] | undefined {
    this.#synthetic ??= this.#computeSynthetic()
    return this.#synthetic.get(directory)
  }

  /** Reports whether a path exists because of a mount point at or below it. */
  isImplied(path: string): boolean {
    return !this.#isDeeperThanAll(path) && (this.#mounts.has(path) || this.findNamesIn(path) !== undefined)
  }

  /** Reports whether a path is deeper than every mount point. Most paths are, and need no lookup. */
  #isDeeperThanAll(path: string): boolean {
    let slash = 0
    for (let depth = 0; depth < this.#deepest; depth++) {
      slash = path.indexOf('/', slash + 1)
      if (slash === -1) return false
    }
    return path !== '/'
  }

  /** Returns the smallest free mount number. A replacement keeps the number of the mount it replaces. */
  #allocateNumber(path: string): number {
    const replaced = this.#mounts.get(path)
    if (replaced !== undefined) return replaced.number
    if (this.#mounts.size === 0) return SYNTHETIC_NUMBER + 1
    const taken = new Set(Array.from(this.#mounts.values(), ({ number }) => number))
    let number = SYNTHETIC_NUMBER + 1
    while (taken.has(number)) number++
    return number
  }

  #invalidate(): void {
    this.#synthetic = null
    this.#deepest = Math.max(0, ...[...this.#mounts.keys()].map(countNames))
  }

  #computeSynthetic(): ReadonlyMap<string, readonly string[]> {
    const names = new Map<string, Set<string>>()
    for (const mountPoint of this.#mounts.keys()) {
      for (const path of [...ancestors(mountPoint).slice(1), mountPoint]) {
        if (path === '/') continue
        const directory = dirname(path)
        names.set(directory, (names.get(directory) ?? new Set()).add(basename(path)))
      }
    }
    return new Map([...names].map(([directory, found]) => [directory, [...found].sort()]))
  }
}

function countNames(mountPoint: string): number {
  return mountPoint === '/' ? 0 : mountPoint.split('/').length - 1
}
