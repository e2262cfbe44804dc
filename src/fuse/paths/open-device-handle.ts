import { type CallContext, type FileHandle, type FileSystem, isOpenable, type Stat } from '../../vfs/index.ts'
import type { PathNode } from './node-table.ts'
import type { OpenHandle } from './open-handle.ts'

/**
 * An open device, or another node that is neither file nor directory. Writes reach it at once.
 * Each open is a separate session, which ends at close.
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

  /** Does nothing: a device has no content to truncate. */
  begin(): void {}

  read(position: number, length: number): Promise<Uint8Array> {
    return this.#handle.read(position, length)
  }

  write(position: number, bytes: Uint8Array): Promise<void> {
    return this.#handle.write(position, bytes)
  }

  /** A device has no end: it takes bytes in the order in which they arrive. */
  append(bytes: Uint8Array): Promise<void> {
    return this.#handle.write(0, bytes)
  }

  /** Writes are never buffered. */
  async flush(): Promise<void> {}

  /** Closes the device. Either this or `close` is called, once. */
  release(): Promise<void> {
    return this.#handle.close()
  }

  close(): Promise<void> {
    return this.#handle.close()
  }
}

/** Opens a node of type `other`; undefined for other types, or if the file system cannot open files. */
export async function openDeviceHandle(
  fs: FileSystem,
  { node, path, isWriter }: { readonly node: PathNode; readonly path: string; readonly isWriter: boolean },
  { type }: Stat,
  ctx: CallContext,
): Promise<OpenDeviceHandle | undefined> {
  if (type !== 'other' || !isOpenable(fs)) return undefined
  // The handle outlives the request that opens it.
  const { signal, ...sessionCtx } = ctx
  const handle = await fs.open(path, { write: isWriter }, sessionCtx)
  if (signal?.aborted) {
    // The kernel no longer waits for it and will not release it.
    await handle.close()
    signal.throwIfAborted()
  }
  return new OpenDeviceHandle(node, isWriter, handle)
}
