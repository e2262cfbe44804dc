import { collect, isVfsError, VfsError } from '../../vfs/index.ts'
import {
  type DeviceContext,
  type DeviceFile,
  type DeviceStat,
  O_RDONLY,
  O_WRONLY,
  type OpenMode,
} from '../device/index.ts'

/**
 * Opens a plain file in a process's namespace. Writes become its content on close and cannot be read before; those of a
 * cancelled process are dropped. EISDIR for a directory, unless it is opened for writing only; ENOENT for a missing
 * file that is opened for reading only.
 */
export async function openNamespaceFile(
  path: string,
  mode: OpenMode,
  ctx: DeviceContext,
): Promise<DeviceFile> {
  if (mode === O_WRONLY) return new NamespaceFile(path, mode, ctx)
  const stat = await ctx.fs.stat(path, ctx).catch((error: unknown) => {
    if (mode === O_RDONLY || !isVfsError(error, 'ENOENT')) throw error
  })
  if (stat?.type === 'directory') throw new VfsError('EISDIR', path, { op: 'open' })
  return new NamespaceFile(path, mode, ctx)
}

class NamespaceFile implements DeviceFile {
  readonly #path: string
  readonly #mode: OpenMode
  readonly #ctx: DeviceContext
  readonly #written: Uint8Array[] = []
  #position = 0

  constructor(path: string, mode: OpenMode, ctx: DeviceContext) {
    this.#path = path
    this.#mode = mode
    this.#ctx = ctx
  }

  async read(length: number): Promise<Uint8Array> {
    if (this.#mode === O_WRONLY) throw this.#createModeError('read', 'the file is open for writing only')
    if (length === 0 || this.#written.length > 0) return new Uint8Array()
    const bytes = await collect(
      this.#ctx.fs.read(this.#path, { byteRange: [this.#position, length] }, this.#ctx),
    )
    this.#position += bytes.length
    return bytes
  }

  async write(data: Uint8Array): Promise<void> {
    if (this.#mode === O_RDONLY) throw this.#createModeError('write', 'the file is open for reading only')
    this.#written.push(data.slice())
  }

  async close(): Promise<void> {
    if (this.#written.length === 0 || this.#ctx.signal.aborted) return
    await this.#ctx.fs.write(this.#path, Buffer.concat(this.#written), {}, this.#ctx)
  }

  async stat(): Promise<DeviceStat> {
    const { size, mtime } = await this.#ctx.fs.stat(this.#path, this.#ctx)
    return { size, modified: mtime }
  }

  #createModeError(op: string, detail: string): VfsError {
    return new VfsError('EBADF', this.#path, { op, detail })
  }
}
