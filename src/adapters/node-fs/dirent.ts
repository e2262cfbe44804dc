import type { FileType } from '../../vfs/index.ts'

/** One name of a listing, as `fs.Dirent` has it. */
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

  /** What is neither file, directory nor link is a device, as its stats say. */
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
