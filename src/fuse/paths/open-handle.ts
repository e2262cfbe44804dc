import type { CallContext } from '../../vfs/index.ts'
import type { PathNode } from './node-table.ts'
import type { OpenPathFile } from './open-path-file.ts'
import type { PathFiles } from './path-files.ts'

/** What the kernel holds open of a node, and does with it. */
export interface OpenHandle {
  readonly node: PathNode
  readonly isWriter: boolean
  /** The kernel is about to be told of it. */
  begin(truncates: boolean): void
  /** A part of the content, shorter only at its end. */
  read(position: number, length: number, ctx: CallContext): Uint8Array | Promise<Uint8Array>
  write(position: number, bytes: Uint8Array, ctx: CallContext): Promise<void>
  /** Writes at the end, wherever the kernel takes that to be. */
  append(bytes: Uint8Array, ctx: CallContext): Promise<void>
  /** At every close, and whenever somebody wants to be sure. */
  flush(ctx: CallContext): Promise<void>
  /** The kernel has let go of it. */
  release(): Promise<void>
  /** The kernel is gone, and lets go of nothing any more. */
  close(): Promise<void>
}

/** A file, whose content is kept with the others that are open of its node. */
export class OpenFileHandle implements OpenHandle {
  readonly #files: PathFiles
  readonly #file: OpenPathFile

  constructor(files: PathFiles, file: OpenPathFile) {
    this.#files = files
    this.#file = file
  }

  get node(): PathNode {
    return this.#file.node
  }

  get isWriter(): boolean {
    return this.#file.isWriter
  }

  begin(truncates: boolean): void {
    this.#files.addOpening(this.#file, truncates)
  }

  read(position: number, length: number, ctx: CallContext): Uint8Array | Promise<Uint8Array> {
    return this.#files.read(this.#file, position, length, ctx)
  }

  write(position: number, bytes: Uint8Array, ctx: CallContext): Promise<void> {
    return this.#files.write(this.#file, position, bytes, ctx)
  }

  append(bytes: Uint8Array, ctx: CallContext): Promise<void> {
    return this.#files.append(this.#file, bytes, ctx)
  }

  flush(ctx: CallContext): Promise<void> {
    return this.#files.flush(this.node, ctx)
  }

  release(): Promise<void> {
    return this.#files.release(this.#file)
  }

  close(): Promise<void> {
    return this.#file.close()
  }
}
