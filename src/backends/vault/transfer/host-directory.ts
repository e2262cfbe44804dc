import { closeSync, constants, fstatSync, lstatSync, openSync, readdirSync, readlinkSync } from 'node:fs'
import { join } from 'node:path'
import { HostFault } from './host-fault.ts'

const { O_DIRECTORY, O_NOFOLLOW } = constants
/** Linux's flag for a handle that needs no read permission on the directory. */
const O_PATH = 0o10000000
/** Number of ancestor directories that stay open. */
const MAX_OPEN_LEVELS = 64

/** Identifies a directory independently of its name. */
export interface HostIdentity {
  readonly dev: bigint
  readonly ino: bigint
}

/** A directory of the machine to run system calls in. Names are single path components. */
export interface HostDirectory extends HostIdentity {
  /** True if its paths lead into this very directory as long as it is open, also in other threads. */
  readonly isHandle: boolean
  /** A path for a system call that does not follow the last component, valid while the directory is open. */
  at(name: string): string
  /** A path of the directory itself. */
  self(): string
  /** Opens a subdirectory. ENOTDIR or ELOOP for anything else, links included. */
  enter(name: string): HostDirectory
  close(): void
}

/** Opens a directory by its path and follows links, because the user chose this path. */
export function openHostDirectory(path: string, byHandle: boolean = canUseHandles()): HostDirectory {
  if (byHandle) return new HandleDirectory(openSync(path, O_PATH | O_DIRECTORY))
  return new PathDirectory(path, lstatSync(join(path, '.'), { bigint: true }))
}

/** A name in a directory. */
export interface ListedName {
  /** As bytes if it is not UTF-8. */
  readonly name: string | Buffer
  /** True for a regular file; it may have been replaced since. */
  readonly isFile: boolean
}

/** Returns the names in a directory. */
export function listNames(directory: HostDirectory): ListedName[] {
  const entries = readdirSync(directory.self(), { withFileTypes: true })
  // U+FFFD may stand for invalid bytes or be part of the name: compare the bytes.
  if (!entries.some(({ name }) => name.includes('\ufffd')))
    return entries.map((entry) => ({ name: entry.name, isFile: entry.isFile() }))
  return readdirSync(directory.self(), { encoding: 'buffer' }).map((bytes) => {
    const name = bytes.toString()
    return { name: Buffer.from(name).equals(bytes) ? name : bytes, isFile: false }
  })
}

export function isSameFile(one: HostIdentity, other: HostIdentity): boolean {
  return one.ino === other.ino && one.dev === other.dev
}

/**
 * The directories from a root down to the current one, at any depth. Only the nearest stay open. An ancestor is
 * reopened through `..` and must still be the same directory.
 */
export class DirectoryStack {
  readonly #levels: { readonly identity: HostIdentity; directory: HostDirectory | undefined }[]

  constructor(root: HostDirectory) {
    this.#levels = [{ identity: root, directory: root }]
  }

  get current(): HostDirectory {
    const directory = this.#levels.at(-1)?.directory
    if (directory === undefined) throw new HostFault('EBADF', 'the directory is closed')
    return directory
  }

  down(directory: HostDirectory): void {
    this.#levels.push({ identity: directory, directory })
    // The root stays open: it cannot be reopened from above.
    const far = this.#levels.length - MAX_OPEN_LEVELS
    const above = far > 0 ? this.#levels[far] : undefined
    above?.directory?.close()
    if (above !== undefined) above.directory = undefined
  }

  up(): void {
    const left = this.#levels.pop()
    const level = this.#levels.at(-1)
    if (level !== undefined && level.directory === undefined && left?.directory !== undefined) {
      const above = left.directory.enter('..')
      if (!isSameFile(above, level.identity)) {
        above.close()
        left.directory.close()
        throw new HostFault('ECONFLICT', 'a directory was moved meanwhile; try again')
      }
      level.directory = above
    }
    left?.directory?.close()
  }

  close(): void {
    for (const { directory } of this.#levels.splice(0)) directory?.close()
  }
}

/**
 * A directory by file descriptor. Node has no `openat`, but Linux resolves `/proc/self/fd/<n>/<name>` from the open
 * directory. Renaming or replacing a directory above cannot redirect a call, and no path is too long.
 */
class HandleDirectory implements HostDirectory {
  readonly isHandle = true
  readonly dev: bigint
  readonly ino: bigint
  #fd: number | undefined

  constructor(fd: number) {
    this.#fd = fd
    const { dev, ino } = fstatSync(fd, { bigint: true })
    this.dev = dev
    this.ino = ino
  }

  at(name: string): string {
    return `${this.self()}/${name}`
  }

  self(): string {
    // Checked on every use: a closed descriptor's number may be reused.
    if (this.#fd === undefined) throw new HostFault('EBADF', 'the directory is closed')
    return `/proc/self/fd/${this.#fd}`
  }

  enter(name: string): HandleDirectory {
    return new HandleDirectory(openSync(this.at(name), O_PATH | O_DIRECTORY | O_NOFOLLOW))
  }

  close(): void {
    if (this.#fd !== undefined) closeSync(this.#fd)
    this.#fd = undefined
  }
}

/**
 * A directory by its path, for machines without `/proc`. Its identity is checked before each use. Not covered: a swap
 * for a link between that check and the call.
 */
class PathDirectory implements HostDirectory {
  readonly isHandle = false
  readonly dev: bigint
  readonly ino: bigint
  readonly #path: string

  constructor(path: string, { dev, ino }: HostIdentity) {
    this.#path = path
    this.dev = dev
    this.ino = ino
  }

  at(name: string): string {
    return `${this.self()}/${name}`
  }

  self(): string {
    const found = lstatSync(`${this.#path}/.`, { bigint: true })
    if (isSameFile(found, this)) return this.#path
    throw new HostFault('ECONFLICT', 'a directory was replaced meanwhile; try again')
  }

  enter(name: string): PathDirectory {
    const path = this.at(name)
    const found = lstatSync(path, { bigint: true })
    if (found.isDirectory()) return new PathDirectory(path, found)
    throw new HostFault('ENOTDIR', 'the path is not a directory')
  }

  close(): void {}
}

function canUseHandles(): boolean {
  if (process.platform !== 'linux') return false
  try {
    readlinkSync('/proc/self/exe')
    return true
  } catch {
    return false
  }
}
