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
    const known = this.#directories.get(number)
    if (known !== undefined) return known
    const path = this.getPath(number)
    this.#directories.set(number, path)
    return path
  }
}
