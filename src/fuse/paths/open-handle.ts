import type { CallContext } from '../../vfs/index.ts'
import type { PathNode } from './node-table.ts'
import type { OpenPathFile } from './open-path-file.ts'
import type { PathFiles } from './path-files.ts'

/** An open handle of a node. */
export interface OpenHandle {
  readonly node: PathNode
  readonly isWriter: boolean
  /** Activates the handle just before the reply to the kernel. */
  begin(truncates: boolean): void
  /** Returns a part of the content, shorter only at its end. */
  read(position: number, length: number, ctx: CallContext): Uint8Array | Promise<Uint8Array>
  write(position: number, bytes: Uint8Array, ctx: CallContext): Promise<void>
  /** Writes at the end, whatever position the kernel assumes. */
  append(bytes: Uint8Array, ctx: CallContext): Promise<void>
  /** Called at every close and on `fsync`. */
  flush(ctx: CallContext): Promise<void>
  /** Called when the kernel releases the handle. */
  release(): Promise<void>
  /** Called after the kernel has disconnected. */
  close(): Promise<void>
}

/** An open file; it shares the content with other handles of its node. */
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
