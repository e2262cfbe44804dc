import { closeSync, constants, fstatSync, openSync } from 'node:fs'
import { type DirectoryHandle, isErrno } from '../../machine/index.ts'
import { readDescriptor } from './host-entry.ts'
import { HostTree } from './host-tree.ts'
import { getParent, splitPath } from './tree.ts'

const { O_NOFOLLOW, O_NONBLOCK, O_RDONLY } = constants

/** Reads many files of a directory one after another, quickly if those of one subdirectory are neighbours. */
export class DirectoryReader implements Disposable {
  readonly #tree: HostTree
  /** The subdirectory of the last file, which stays open. */
  #lastDirectory: { readonly path: string; readonly handle: DirectoryHandle } | undefined

  constructor(root: string) {
    this.#tree = new HostTree(root)
  }

  /** Returns the content of a file; undefined if there is none that this user may read. Follows no link. */
  read(path: string): Uint8Array | undefined {
    try {
      const fd = openSync(
        this.#enter(path).at(splitPath(path).at(-1) ?? ''),
        O_RDONLY | O_NOFOLLOW | O_NONBLOCK,
      )
      try {
        return fstatSync(fd).isFile() ? Buffer.concat([...readDescriptor(fd)]) : undefined
      } finally {
        closeSync(fd)
      }
    } catch (error) {
      if (isErrno(error, 'ENOENT', 'ENOTDIR', 'ELOOP', 'EACCES', 'ENXIO')) return undefined
      throw error
    }
  }

  [Symbol.dispose](): void {
    this.#lastDirectory?.handle.close()
    this.#tree[Symbol.dispose]()
  }

  #enter(path: string): DirectoryHandle {
    const parent = getParent(path)
    if (this.#lastDirectory?.path === parent) return this.#lastDirectory.handle
    const handle = this.#tree.withDentry(path, ({ directory }) => directory.retain())
    this.#lastDirectory?.handle.close()
    this.#lastDirectory = { path: parent, handle }
    return handle
  }
}
