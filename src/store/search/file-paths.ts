import { child } from '../../vfs/index.ts'
import { listDentries } from '../files/directory-entries.ts'
import type { VaultFiles } from '../files/vault-files.ts'
import type { FoundFile } from './file-walk.ts'

/** Where files are, as seen from a directory. What it has found out of directories it remembers. */
export class FilePaths {
  readonly #files: VaultFiles
  /** By directory: its path, or null if it does not lie below the start. */
  readonly #directories = new Map<number, string | null>()

  constructor(files: VaultFiles, start: FoundFile) {
    this.#files = files
    this.#directories.set(start.number, start.path)
  }

  /** Every path of a file below the start; none if it is no file of this tree. */
  listPaths(number: number): FoundFile[] {
    const inode = this.#files.findInode(number)
    if (inode?.type !== 'file') return []
    return listDentries(this.#files, number, inode).flatMap(({ parent, name }) => {
      const directory = this.#findDirectoryPath(parent)
      return directory === null ? [] : [{ path: child(directory, name), number }]
    })
  }

  #findDirectoryPath(number: number): string | null {
    const names: { number: number; name: string }[] = []
    let path: string | null | undefined
    for (let at = number; path === undefined; ) {
      path = this.#directories.get(at)
      if (path !== undefined) break
      const { parent, name } = this.#files.getInode(at)
      // Only the root is its own parent.
      if (parent === at) path = null
      else names.push({ number: at, name })
      at = parent
    }
    for (const { number: at, name } of names.reverse()) {
      path = path === null ? null : child(path, name)
      this.#directories.set(at, path)
    }
    return path
  }
}

/** Sorts as a walk would meet them: by names, directory after directory. */
export function sortInWalkOrder(found: readonly FoundFile[]): FoundFile[] {
  // What is in a directory comes before every name that only starts like it.
  return found
    .map((file) => ({ file, key: file.path.replaceAll('/', '\0') }))
    .sort((one, other) => (one.key < other.key ? -1 : one.key > other.key ? 1 : 0))
    .map(({ file }) => file)
}
