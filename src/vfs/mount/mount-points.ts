import { VfsError } from '../error.ts'
import type { FileSystem } from '../file-system.ts'
import { ancestors, basename, dirname, normalize } from '../path.ts'
import { Mount } from './mount.ts'

/** The mounts of a table: which one serves a path, and the directories that exist only because a mount is below. */
export class MountPoints {
  readonly #mounts = new Map<string, Mount>()
  #deepest = 0
  #synthetic: ReadonlyMap<string, readonly string[]> | null = null

  add(path: string, fs: FileSystem, replace: boolean): Mount {
    const at = normalize(path)
    if (this.#mounts.has(at) && !replace) {
      throw new VfsError('EEXIST', at, {
        op: 'mount',
        detail: 'something is mounted there; pass replace: true',
      })
    }
    const mount = new Mount(at, fs)
    this.#mounts.set(at, mount)
    this.#changed()
    return mount
  }

  remove(path: string): void {
    const at = normalize(path)
    if (!this.#mounts.delete(at))
      throw new VfsError('ENOENT', at, { op: 'unmount', detail: 'nothing is mounted there' })
    this.#changed()
  }

  has(path: string): boolean {
    return this.#mounts.has(path)
  }

  get(path: string): Mount | undefined {
    return this.#mounts.get(path)
  }

  /** All mounts, the longest mount point first. */
  list(): Mount[] {
    return [...this.#mounts.values()].sort(
      (a, b) => b.path.length - a.path.length || (a.path < b.path ? -1 : 1),
    )
  }

  hasSamePlaces(other: MountPoints): boolean {
    return (
      this.#mounts.size === other.#mounts.size && [...this.#mounts.keys()].every((path) => other.has(path))
    )
  }

  /**
   * The mount with the longest prefix on whole segments.
   * It looks no deeper than the deepest mount point, so its cost depends on neither their number nor the path's length.
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

  /** The names in a directory that are mount points or lead to one, sorted; undefined when there are none. */
  namesIn(directory: string): readonly string[] | undefined {
    this.#synthetic ??= this.#computeSynthetic()
    return this.#synthetic.get(directory)
  }

  /** Whether a path exists because something is mounted at it or below it. */
  isImplied(path: string): boolean {
    return !this.#isBelowAll(path) && (this.#mounts.has(path) || this.namesIn(path) !== undefined)
  }

  /** Whether a path is longer than every mount point, in names: most are, and need no look-up. */
  #isBelowAll(path: string): boolean {
    let slash = 0
    for (let depth = 0; depth < this.#deepest; depth++) {
      slash = path.indexOf('/', slash + 1)
      if (slash === -1) return false
    }
    return path !== '/'
  }

  #changed(): void {
    this.#synthetic = null
    this.#deepest = Math.max(0, ...[...this.#mounts.keys()].map(depthOf))
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

function depthOf(mountPoint: string): number {
  return mountPoint === '/' ? 0 : mountPoint.split('/').length - 1
}
