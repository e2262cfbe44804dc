import type { FileType } from '../../vfs/index.ts'

/** An entry of a listing, as `fs.Dirent`. */
export class Dirent {
  readonly name: string | Buffer
  readonly parentPath: string
  readonly #type: FileType

  constructor(name: string | Buffer, parentPath: string, type: FileType) {
    this.name = name
    this.parentPath = parentPath
    this.#type = type
  }

  isFile(): boolean {
    return this.#type === 'file'
  }

  isDirectory(): boolean {
    return this.#type === 'directory'
  }

  isSymbolicLink(): boolean {
    return this.#type === 'symlink'
  }

  /** True for anything but a file, directory or link, as in its stats. */
  isCharacterDevice(): boolean {
    return this.#type === 'other'
  }

  isBlockDevice(): boolean {
    return false
  }

  isFIFO(): boolean {
    return false
  }

  isSocket(): boolean {
    return false
  }
}
