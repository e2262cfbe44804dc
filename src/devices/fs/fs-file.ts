import { type DeviceContext, type DeviceFile, type DeviceStat, RequestFile } from '../../kernel/index.ts'
import { collect, isVfsError, VfsError } from '../../vfs/index.ts'
import type { FsRequests } from './fs-requests.ts'

interface FsFileParts {
  /** Path below the device, for messages. */
  readonly path: string
  /** Path of the file in the workspace. */
  readonly target: string
  readonly requests: FsRequests
  readonly ctx: DeviceContext
}

/** A workspace file: reads return its content until a request is written, then the response. */
export class FsFile implements DeviceFile {
  readonly #parts: FsFileParts
  readonly #requestFile: RequestFile
  #hasRequest = false
  #position = 0

  constructor(parts: FsFileParts) {
    const { path, target, requests, ctx } = parts
    this.#parts = parts
    this.#requestFile = new RequestFile(path, (bytes, signal = ctx.signal) =>
      requests.answer(parseRequest(path, bytes), target, signal),
    )
  }

  async read(length: number): Promise<Uint8Array> {
    if (this.#hasRequest) return this.#requestFile.read(length)
    if (length === 0) return new Uint8Array()
    const { target, requests, ctx } = this.#parts
    try {
      const bytes = await collect(requests.fs.read(target, { byteRange: [this.#position, length] }, ctx))
      this.#position += bytes.length
      return bytes
    } catch (error) {
      throw isVfsError(error, 'EISDIR') ? this.#createDirectoryError() : error
    }
  }

  async write(data: Uint8Array, signal?: AbortSignal): Promise<void> {
    this.#hasRequest = true
    await this.#requestFile.write(data, signal)
  }

  async close(): Promise<void> {
    await this.#requestFile.close()
  }

  async stat(): Promise<DeviceStat> {
    if (this.#hasRequest) return this.#requestFile.stat()
    const { target, requests, ctx } = this.#parts
    const { size, mtime } = await requests.fs.stat(target, ctx)
    return { size, modified: mtime }
  }

  #createDirectoryError(): VfsError {
    const detail = 'a directory; write {"op": "list"} to it and read the response'
    return new VfsError('EISDIR', this.#parts.path, { op: 'read', detail })
  }
}

function parseRequest(path: string, bytes: Uint8Array): unknown {
  try {
    return JSON.parse(new TextDecoder().decode(bytes))
  } catch (error) {
    const reason = error instanceof Error ? error.message : String(error)
    const detail = `a request is JSON, such as {"content": "…"} or {"op": "grep", "pattern": "…"}: ${reason}`
    throw new VfsError('EINVAL', path, { op: 'write', detail })
  }
}
