import { type CallContext, type FileHandle, type FileSystem, isOpenable, type Stat } from '../../vfs/index.ts'
import type { PathNode } from './node-table.ts'
import type { OpenHandle } from './open-handle.ts'

/**
 * A device, or whatever else is neither file nor directory: what is written goes to it at once, and what is read is
 * what it has to say. Each opening is a conversation of its own, which ends when it is closed.
 */
export class OpenDeviceHandle implements OpenHandle {
  readonly node: PathNode
  readonly isWriter: boolean
  readonly #handle: FileHandle

  constructor(node: PathNode, isWriter: boolean, handle: FileHandle) {
    this.node = node
    this.isWriter = isWriter
    this.#handle = handle
  }

  /** There is nothing in it that could be emptied. */
  begin(): void {}

  read(position: number, length: number): Promise<Uint8Array> {
    return this.#handle.read(position, length)
  }

  write(position: number, bytes: Uint8Array): Promise<void> {
    return this.#handle.write(position, bytes)
  }

  /** A conversation has no positions. */
  append(bytes: Uint8Array): Promise<void> {
    return this.#handle.write(0, bytes)
  }

  /** What was written has been taken already. */
  async flush(): Promise<void> {}

  release(): Promise<void> {
    return this.#handle.close()
  }

  close(): Promise<void> {
    return this.#handle.close()
  }
}

/** Opens what has handles and no content of its own; undefined for everything else. */
export async function openDeviceHandle(
  fs: FileSystem,
  { node, path, isWriter }: { readonly node: PathNode; readonly path: string; readonly isWriter: boolean },
  { type }: Stat,
  ctx: CallContext,
): Promise<OpenDeviceHandle | undefined> {
  if (type !== 'other' || !isOpenable(fs)) return undefined
  // It outlives the request that opens it.
  const { signal, ...lasting } = ctx
  const handle = await fs.open(path, { write: isWriter }, lasting)
  if (signal?.aborted) {
    // The kernel no longer waits for it, and will never release it.
    await handle.close()
    signal.throwIfAborted()
  }
  return new OpenDeviceHandle(node, isWriter, handle)
}
