import { constants, fstatSync, lstatSync, openSync, readlinkSync, realpathSync, type Stats } from 'node:fs'
import { dirname, sep } from 'node:path'
import { DirectoryError } from './directory-error.ts'
import { FileDescriptor } from './file-descriptor.ts'

const { O_DIRECTORY, O_NOFOLLOW } = constants
/** Flag of Linux: opens a directory without the permission to read it. */
const O_PATH = 0o10000000

/**
 * A directory inside the root, to run system calls in. Names are single path components; `.` is the directory itself.
 * Counts its users: each caller of `enter` or `retain` closes it once.
 */
export interface DirectoryHandle {
  /** Returns a path for a system call that does not follow the last component; valid while the directory is open. */
  at(name: string): string
  /** Opens a file in it. ELOOP for a link. */
  open(name: string, flags: number, mode?: number): FileDescriptor
  /** Runs a step with a path that leads to what has this name, for system calls that follow links. ELOOP for a link. */
  withPinnedPath<T>(name: string, step: (path: string) => T): T
  /** Opens the directory of this name in it. ENOTDIR for any other type and for a link, EACCES for a forbidden one. */
  enter(name: string): DirectoryHandle
  /** Throws EACCES if the last use of `at` may have left the root. Call it after each read through `at`. */
  assertInsideRoot(): void
  /** Current path on the machine. */
  realPath(): string
  /** Adds a user, and returns the same handle. */
  retain(): DirectoryHandle
  /** As `FileDescriptor.closeOnFinalize`. */
  closeOnFinalize(): this
  close(): void
}

/** Forbids some directories of the machine. */
export interface EntryGuard {
  /** Throws EACCES for the real path of a forbidden directory, or one below it. */
  assertOutside(real: string): void
  /** Throws EACCES for the attributes of a forbidden directory. */
  assertOpen(entry: Stats): void
}

/** Confinement to the root: by handles (Linux with `/proc`), or by checking real paths. */
export type RootConfinement = 'handles' | 'paths'

/** Paths in the mount namespace of another process. They have no real path here. */
const OTHER_NAMESPACE = /^\/proc\/\d+\/root\//

/**
 * Opens a directory as a root, by handles where the machine has them. ENOENT if it is missing, ENOTDIR for anything
 * else. ENOTSUP if handles are required and missing. EACCES if the guard forbids the directory, or later one that is
 * entered.
 */
export function openRoot(
  dir: string,
  confinement: RootConfinement | undefined,
  guard: EntryGuard | undefined,
): DirectoryHandle {
  const real = OTHER_NAMESPACE.test(dir) ? dir : findRealPath(dir)
  if (real === undefined)
    throw new DirectoryError('ENOENT', `the directory '${dir}' of this machine is missing`)
  if (!lstatSync(real).isDirectory())
    throw new DirectoryError('ENOTDIR', `'${dir}' of this machine is not a directory`)
  guard?.assertOutside(real)
  if (confinement !== 'paths') {
    const root = DescriptorDirectory.openRoot(real, guard)
    if (root) return root
    if (confinement === 'handles')
      throw new DirectoryError('ENOTSUP', 'directory handles need Linux with /proc')
  }
  return new PathDirectory(real, guard)
}

/**
 * A directory by file descriptor. Node has no `openat`, but Linux resolves `/proc/self/fd/<n>/<name>` from the very
 * directory that is open, so renaming or replacing anything above it cannot lead a call elsewhere.
 */
class DescriptorDirectory implements DirectoryHandle {
  readonly #descriptor: FileDescriptor
  readonly #prefix: string
  readonly #guard: EntryGuard | undefined
  #users = 1

  constructor(fd: number, guard: EntryGuard | undefined) {
    this.#descriptor = new FileDescriptor(fd)
    this.#prefix = `/proc/self/fd/${fd}`
    this.#guard = guard
  }

  /** Opens a root; null if the machine has no `/proc` for handles. */
  static openRoot(real: string, guard: EntryGuard | undefined): DescriptorDirectory | null {
    if (process.platform !== 'linux') return null
    const root = new DescriptorDirectory(openSync(real, O_PATH | O_DIRECTORY | O_NOFOLLOW), guard)
    if (root.#isReachable()) return root
    root.close()
    return null
  }

  at(name: string): string {
    // Checked on every use: the number of a closed descriptor may belong to another directory.
    if (this.#users === 0) throw new DirectoryError('EBADF')
    return `${this.#prefix}/${name}`
  }

  open(name: string, flags: number, mode?: number): FileDescriptor {
    return new FileDescriptor(openSync(this.at(name), flags | O_NOFOLLOW, mode))
  }

  withPinnedPath<T>(name: string, step: (path: string) => T): T {
    const pin = this.open(name, O_PATH)
    try {
      // For a link, this is a descriptor of the link itself.
      assertNotLink(fstatSync(pin.fd))
      return step(`/proc/self/fd/${pin.fd}`)
    } finally {
      pin.close()
    }
  }

  enter(name: string): DescriptorDirectory {
    const fd = openSync(this.at(name), O_PATH | O_DIRECTORY | O_NOFOLLOW)
    const entered = new DescriptorDirectory(fd, this.#guard)
    try {
      this.#guard?.assertOpen(fstatSync(fd))
      return entered
    } catch (error) {
      entered.close()
      throw error
    }
  }

  assertInsideRoot(): void {}

  realPath(): string {
    return readlinkSync(this.#prefix)
  }

  retain(): this {
    this.#users++
    return this
  }

  closeOnFinalize(): this {
    this.#descriptor.closeOnFinalize()
    return this
  }

  close(): void {
    if (this.#users > 0 && --this.#users === 0) this.#descriptor.close()
  }

  #isReachable(): boolean {
    try {
      const [byPath, byDescriptor] = [lstatSync(this.at('.')), fstatSync(this.#descriptor.fd)]
      return byPath.ino === byDescriptor.ino && byPath.dev === byDescriptor.dev
    } catch {
      // `/proc` is missing or not accessible.
      return false
    }
  }
}

/**
 * A directory by its real path, for machines without `/proc`. Each use is preceded by a check that the path is still
 * free of links, and each open followed by one; so is a listing, if its caller calls `assertInsideRoot`.
 * Not covered: another process swaps a directory for a link right after the first check and back right before the
 * second, or swaps it between the check and a call without a second check (unlink, rename, mkdir, chmod).
 */
class PathDirectory implements DirectoryHandle {
  readonly #path: string
  readonly #guard: EntryGuard | undefined

  constructor(path: string, guard: EntryGuard | undefined) {
    this.#path = path
    this.#guard = guard
  }

  at(name: string): string {
    this.assertInsideRoot()
    return this.#child(name)
  }

  open(name: string, flags: number, mode?: number): FileDescriptor {
    const descriptor = new FileDescriptor(openSync(this.at(name), flags | O_NOFOLLOW, mode))
    try {
      this.assertInsideRoot()
      return descriptor
    } catch (error) {
      descriptor.close()
      throw error
    }
  }

  withPinnedPath<T>(name: string, step: (path: string) => T): T {
    assertNotLink(lstatSync(this.at(name)))
    return step(this.at(name))
  }

  enter(name: string): PathDirectory {
    const entry = lstatSync(this.at(name))
    if (!entry.isDirectory()) throw new DirectoryError('ENOTDIR')
    this.#guard?.assertOpen(entry)
    if (name === '.') return this
    // The real name may differ in case from the given one; the parent may not differ.
    const real = realpathSync.native(this.#child(name))
    if (dirname(real) !== this.#path) throw createReplacedError()
    return new PathDirectory(real, this.#guard)
  }

  assertInsideRoot(): void {
    if (realpathSync.native(this.#path) !== this.#path) throw createReplacedError()
  }

  realPath(): string {
    return this.#path
  }

  retain(): this {
    return this
  }

  closeOnFinalize(): this {
    return this
  }

  close(): void {}

  #child(name: string): string {
    return this.#path.endsWith(sep) ? this.#path + name : this.#path + sep + name
  }
}

function assertNotLink(stats: Stats): void {
  if (stats.isSymbolicLink()) throw new DirectoryError('ELOOP')
}

function createReplacedError(): DirectoryError {
  return new DirectoryError('EACCES', 'a directory on the way was replaced by a link')
}

/** Returns a path with all links followed; undefined if that fails, mostly because nothing is there. */
export function findRealPath(path: string): string | undefined {
  try {
    return realpathSync.native(path)
  } catch {
    return undefined
  }
}
