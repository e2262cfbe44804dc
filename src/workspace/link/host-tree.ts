import { type BigIntStats, closeSync, constants, lstatSync, openSync, readdirSync } from 'node:fs'
import { type DirectoryHandle, isErrno, openRoot } from '../../machine/index.ts'
import type { DirectoryTree } from './directory-tree.ts'
import { findHostEntry, readDescriptor } from './host-entry.ts'
import { HostPathError } from './host-path-error.ts'
import type { LinkEntry } from './link-entry.ts'
import { splitPath } from './tree.ts'

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
    const names = splitPath(path)
    const name = names.pop() ?? '.'
    let here = this.root.retain()
    try {
      for (const each of names) {
        const next = here.enter(each)
        here.close()
        here = next
      }
      return step({ directory: here, name })
    } catch (error) {
      throw HostPathError.wrap(error, this.path + path)
    } finally {
      here.close()
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
