import { type CallContext, type FileSystem, PartReader } from '../../vfs/index.ts'
import type { PathNode } from './node-table.ts'

/** What one `open` of the kernel led to. */
export class OpenPathFile {
  readonly node: PathNode
  readonly isWriter: boolean
  readonly #parts: PartReader

  constructor(node: PathNode, isWriter: boolean, fs: FileSystem, pathOf: () => string, ctx: CallContext) {
    this.node = node
    this.isWriter = isWriter
    this.#parts = new PartReader(fs, pathOf, ctx)
  }

  /** A part of the content, shorter only at its end. */
  read(position: number, length: number, ctx: CallContext): Promise<Uint8Array> {
    return this.#parts.read(position, length, ctx)
  }

  /** Lets go of what it reads from. */
  close(): Promise<void> {
    return this.#parts.close()
  }
}
