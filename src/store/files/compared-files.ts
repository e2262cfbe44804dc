import { ROOT_INODE, VaultFiles } from './vault-files.ts'

/** Files that do not change while they are compared: the path of each directory is looked up once. */
export class ComparedFiles extends VaultFiles {
  /** Paths of directories, by inode; empty for the root. */
  readonly #directories = new Map<number, string>([[ROOT_INODE, '']])

  override getPath(number: number): string {
    if (number === ROOT_INODE) return '/'
    const { parent, name } = this.getInode(number)
    return `${this.#getDirectory(parent)}/${name}`
  }

  #getDirectory(number: number): string {
    // A loop: a path may have more levels than the stack has frames.
    const unknown: number[] = []
    let path: string | undefined
    for (let next = number; path === undefined; next = this.getInode(next).parent) {
      path = this.#directories.get(next)
      if (path === undefined) unknown.push(next)
    }
    for (const directory of unknown.reverse()) {
      path = `${path}/${this.getInode(directory).name}`
      this.#directories.set(directory, path)
    }
    return path
  }
}
