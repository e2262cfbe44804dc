import {
  constants,
  existsSync,
  fchmodSync,
  fstatSync,
  ftruncateSync,
  futimesSync,
  lstatSync,
  mkdirSync,
  readFileSync,
  rmSync,
  type Stats,
  statSync,
  writeFileSync,
} from 'node:fs'
import { join } from 'node:path'
import { type DirectoryHandle, isErrno, openRoot } from '../../machine/index.ts'

const { O_CREAT, O_NONBLOCK, O_RDONLY, O_WRONLY } = constants
const PERMISSION_BITS = 0o7777
/** A larger file is not copied. */
const MAX_BYTES = 64 * 2 ** 20

/** Content and attributes of a file. */
export interface FileCopy {
  readonly bytes: Uint8Array
  readonly mode: number
  readonly mtimeMs: number
}

/** Location of a file in an upper directory. */
export interface LayerLocation {
  readonly root: string
  readonly covered: string
  readonly path: string
}

/**
 * A file of the home, such as the settings of a program, in the upper directory of the overlay in which a command
 * changes it. The command may have put anything in its way, so no call follows a link, and only regular files count.
 */
export class LayerFile {
  /** The upper directory. */
  readonly #root: string
  /** The directory of this machine that the overlay shows below the upper one. */
  readonly #covered: string
  readonly #names: readonly string[]

  /** @param path relative to the upper directory. */
  constructor(root: string, covered: string, path: string) {
    this.#root = root
    this.#covered = covered
    this.#names = path.split('/')
  }

  /** Returns the arguments of the constructor, for another process. */
  describe(): LayerLocation {
    return { root: this.#root, covered: this.#covered, path: this.#names.join('/') }
  }

  /** Path on this machine, for a mount. */
  get path(): string {
    return join(this.#root, ...this.#names)
  }

  /** Returns a value that changes with the file; undefined without a regular file. */
  getStamp(): string | undefined {
    return this.#withParent((parent, name) => formatStamp(lstatSync(parent.at(name))))
  }

  read(): FileCopy | undefined {
    return this.#withParent((parent, name) => {
      const file = parent.open(name, O_RDONLY | O_NONBLOCK)
      try {
        return readCopy(file.fd)
      } finally {
        file.close()
      }
    })
  }

  /**
   * Writes the file in place, so that a command that has it open sees the change. Creates it and its parents. Does
   * nothing if a link or anything but a regular file is in its way.
   */
  write({ bytes, mode, mtimeMs }: FileCopy): void {
    this.#createParents()
    this.#withParent((parent, name) => {
      const file = parent.open(name, O_WRONLY | O_CREAT | O_NONBLOCK, mode)
      try {
        if (!fstatSync(file.fd).isFile()) return
        // Unlike `writeSync`, it throws if the disk takes only a part.
        writeFileSync(file.fd, bytes)
        ftruncateSync(file.fd, bytes.length)
        fchmodSync(file.fd, mode)
        futimesSync(file.fd, mtimeMs / 1000, mtimeMs / 1000)
      } finally {
        file.close()
      }
    })
  }

  /** Removes whatever has the file's name. */
  remove(): void {
    this.#withParent((parent, name) => rmSync(parent.at(name), { recursive: true, force: true }))
  }

  /** Creates missing parents with the attributes of the directories that they cover. */
  #createParents(): void {
    for (let depth = 1; depth < this.#names.length; depth++) {
      const names = this.#names.slice(0, depth)
      const parent = new LayerFile(this.#root, this.#covered, names.join('/'))
      const covered = join(this.#covered, ...names)
      const mode = existsSync(covered) ? statSync(covered).mode & PERMISSION_BITS : 0o700
      parent.#withParent((directory, name) => {
        try {
          mkdirSync(directory.at(name), mode)
        } catch (error) {
          if (!isErrno(error, 'EEXIST')) throw error
        }
      })
    }
  }

  /** Runs a step in the directory of the file; undefined if a link or a missing or closed entry is in the way. */
  #withParent<T>(step: (parent: DirectoryHandle, name: string) => T): T | undefined {
    const open: DirectoryHandle[] = []
    try {
      let parent = openRoot(this.#root, 'handles', undefined)
      open.push(parent)
      for (const name of this.#names.slice(0, -1)) {
        parent = parent.enter(name)
        open.push(parent)
      }
      return step(parent, this.#names.at(-1) ?? '')
    } catch (error) {
      if (!isErrno(error, 'ENOENT', 'ENOTDIR', 'ELOOP', 'EISDIR', 'EACCES', 'ENXIO')) throw error
      return undefined
    } finally {
      for (const directory of open) directory.close()
    }
  }
}

/** Returns a value that changes with a file of this machine; undefined without a regular file. */
export function getHostStamp(path: string): string | undefined {
  const found = lstatSync(path, { throwIfNoEntry: false })
  return found === undefined ? undefined : formatStamp(found)
}

/** Reads a regular file of this machine; undefined without one. */
export function readHostCopy(path: string): FileCopy | undefined {
  try {
    const found = lstatSync(path)
    if (!found.isFile() || found.size > MAX_BYTES) return undefined
    return { bytes: readFileSync(path), mode: found.mode & PERMISSION_BITS, mtimeMs: found.mtimeMs }
  } catch (error) {
    if (isErrno(error, 'ENOENT', 'ENOTDIR', 'EACCES')) return undefined
    throw error
  }
}

function readCopy(fd: number): FileCopy | undefined {
  const found = fstatSync(fd)
  if (!found.isFile() || found.size > MAX_BYTES) return undefined
  return { bytes: readFileSync(fd), mode: found.mode & PERMISSION_BITS, mtimeMs: found.mtimeMs }
}

function formatStamp(found: Stats): string | undefined {
  return found.isFile()
    ? `${found.dev}:${found.ino}:${found.size}:${found.mtimeMs}:${found.ctimeMs}`
    : undefined
}
