import { type CallContext, type FileSystem, PartReader } from '../../vfs/index.ts'
import type { PathNode } from './node-table.ts'

/** The reader of one `open` of a file. */
export class OpenPathFile {
  readonly node: PathNode
  readonly isWriter: boolean
  readonly #parts: PartReader

  constructor(node: PathNode, isWriter: boolean, fs: FileSystem, getPath: () => string, ctx: CallContext) {
    this.node = node
    this.isWriter = isWriter
    this.#parts = new PartReader(fs, getPath, ctx)
  }

  /** Returns a part of the content, shorter only at its end. */
  read(position: number, length: number, ctx: CallContext): Promise<Uint8Array> {
    return this.#parts.read(position, length, ctx)
  }

  /** Closes the reader. */
  close(): Promise<void> {
    return this.#parts.close()
  }
}
