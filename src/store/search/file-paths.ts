import { child } from '../../vfs/index.ts'
import { listDentries } from '../files/directory-entries.ts'
import type { VaultFiles } from '../files/vault-files.ts'
import type { FoundFile } from './file-walk.ts'

/** Finds the paths of files below a directory, and caches those of directories. */
export class FilePaths {
  readonly #files: VaultFiles
  /** Path of each directory, or null if it is not below the start. */
  readonly #directories = new Map<number, string | null>()

  constructor(files: VaultFiles, start: FoundFile) {
    this.#files = files
    this.#directories.set(start.number, start.path)
  }

  /** Lists every path of a file below the start; none if this tree has no such file. */
  listPaths(number: number): FoundFile[] {
    const inode = this.#files.findInode(number)
    if (inode?.type !== 'file') return []
    return listDentries(this.#files, number, inode).flatMap(({ parent, name }) => {
      const directory = this.#findDirectoryPath(parent)
      return directory === null ? [] : [{ path: child(directory, name), number }]
    })
  }

  /** Returns the path of a directory, or null if it is not below the start. */
  #findDirectoryPath(number: number): string | null {
    const names: { number: number; name: string }[] = []
    let path: string | null | undefined
    for (let directory = number; path === undefined; ) {
      path = this.#directories.get(directory)
      if (path !== undefined) break
      const { parent, name } = this.#files.getInode(directory)
      // Only the root is its own parent.
      if (parent === directory) path = null
      else names.push({ number: directory, name })
      directory = parent
    }
    for (const { number: directory, name } of names.reverse()) {
      path = path === null ? null : child(path, name)
      this.#directories.set(directory, path)
    }
    return path
  }
}

/** Sorts in the order of a walk: by names, directory after directory. */
export function sortInWalkOrder(found: readonly FoundFile[]): FoundFile[] {
  // The contents of a directory sort before every name that only shares its prefix.
  return found
    .map((file) => ({ file, key: file.path.replaceAll('/', '\0') }))
    .sort((one, other) => (one.key < other.key ? -1 : one.key > other.key ? 1 : 0))
    .map(({ file }) => file)
}
