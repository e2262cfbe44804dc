import { type BigIntStats, closeSync, constants, lstatSync, openSync, readdirSync } from 'node:fs'
import { type DirectoryHandle, isErrno, openRoot } from '../../machine/index.ts'
import type { DirectoryTree } from './directory-tree.ts'
import { findHostEntry, readDescriptor } from './host-entry.ts'
import { HostPathError } from './host-path-error.ts'
import type { LinkEntry } from './link-entry.ts'
import { getParent, splitPath } from './tree.ts'

const { O_NOFOLLOW, O_NONBLOCK, O_RDONLY } = constants

/** A name in an open directory, for system calls that do not follow links. */
export interface HostDentry {
  readonly directory: DirectoryHandle
  readonly name: string
}

/**
 * A directory of this machine, held open. Each path is walked by descriptor from there, and no link is followed. So
 * replacing a directory by a link leads no operation outside.
 */
export class HostTree implements DirectoryTree, Disposable {
  /** Its real path. */
  readonly path: string
  #root: DirectoryHandle | undefined
  /** True while visits run together. */
  #keepsDirectory = false
  /** The directory of the last of them. */
  #lastVisited: { readonly path: string; readonly directory: DirectoryHandle } | undefined

  constructor(path: string) {
    this.path = path
  }

  /** Opened on first use. Throws ENOENT if it was deleted, or its path now leads elsewhere. */
  get root(): DirectoryHandle {
    this.#root ??= openRealDirectory(this.path)
    return this.#root
  }

  /**
   * Runs a step at a path. Throws ENOTDIR for a path behind a link, which is not in the directory. Errors name the
   * path.
   */
  withDentry<T>(path: string, step: (dentry: HostDentry) => T): T {
    if (this.#keepsDirectory && path !== '/') return this.#visitNeighbour(path, step)
    const names = splitPath(path)
    const name = names.pop() ?? '.'
    try {
      const directory = this.#enter(names)
      try {
        return step({ directory, name })
      } finally {
        directory.close()
      }
    } catch (error) {
      throw HostPathError.wrap(error, this.path + path)
    }
  }

  /**
   * Runs work in which visits that follow each other in one directory enter it once. They all meet the directory that
   * was there at the first of them, as if the last had come before another process replaced it.
   */
  visitTogether<T>(work: () => T): T {
    this.#keepsDirectory = true
    try {
      return work()
    } finally {
      this.#keepsDirectory = false
      this.#leaveDirectory()
    }
  }

  /** Returns the entry at a path; undefined if it is missing or behind a link. */
  findEntry(path: string): LinkEntry | undefined {
    return this.#tryUse(path, ({ directory, name }) =>
      findHostEntry(directory.at(name), () => this.#readContent(path)),
    )
  }

  findStats(path: string): BigIntStats | undefined {
    return this.#tryUse(path, ({ directory, name }) => lstatSync(directory.at(name), { bigint: true }))
  }

  /** True if a symbolic link is at a path. */
  isLink(path: string): boolean {
    return this.findStats(path)?.isSymbolicLink() === true
  }

  /** Lists the names in a directory; none if the path is not a directory. */
  listNames(path: string): string[] {
    const list = ({ directory, name }: HostDentry) => {
      const listed = directory.enter(name)
      try {
        return readdirSync(listed.at('.'))
      } finally {
        listed.close()
      }
    }
    return this.#tryUse(path, list) ?? []
  }

  [Symbol.dispose](): void {
    this.#root?.close()
  }

  #enter(names: readonly string[]): DirectoryHandle {
    let directory = this.root.retain()
    try {
      for (const name of names) {
        const next = directory.enter(name)
        directory.close()
        directory = next
      }
      return directory
    } catch (error) {
      directory.close()
      throw error
    }
  }

  #visitNeighbour<T>(path: string, step: (dentry: HostDentry) => T): T {
    const parent = getParent(path)
    try {
      if (this.#lastVisited?.path !== parent) {
        this.#leaveDirectory()
        this.#lastVisited = { path: parent, directory: this.#enter(splitPath(parent)) }
      }
      return step({ directory: this.#lastVisited.directory, name: path.slice(path.lastIndexOf('/') + 1) })
    } catch (error) {
      throw HostPathError.wrap(error, this.path + path)
    }
  }

  #leaveDirectory(): void {
    this.#lastVisited?.directory.close()
    this.#lastVisited = undefined
  }

  #tryUse<T>(path: string, step: (dentry: HostDentry) => T): T | undefined {
    try {
      return this.withDentry(path, step)
    } catch (error) {
      if (isErrno(error, 'ENOENT', 'ENOTDIR')) return undefined
      throw error
    }
  }

  *#readContent(path: string): Generator<Uint8Array> {
    const flags = O_RDONLY | O_NOFOLLOW | O_NONBLOCK
    const fd = this.withDentry(path, ({ directory, name }) => openSync(directory.at(name), flags))
    try {
      yield* readDescriptor(fd)
    } finally {
      closeSync(fd)
    }
  }
}

function openRealDirectory(path: string): DirectoryHandle {
  const root = openRoot(path, undefined, undefined).closeOnFinalize()
  if (root.realPath() === path) return root
  root.close()
  throw new HostPathError('ENOENT', path, `ENOENT: '${path}' was replaced by a link`)
}
