import { VfsError } from '../../vfs/index.ts'
import type { DeviceFile, DeviceStat } from './device.ts'

const encoder = new TextEncoder()
const decoder = new TextDecoder('utf-8', { fatal: true })

/** Handles a request; the signal cancels it. */
export type RequestHandler = (
  request: Uint8Array,
  signal: AbortSignal | undefined,
) => Promise<Uint8Array | string>

/** An open file that serves requests: each write is a request, and reads return its response until the next write. */
export class RequestFile implements DeviceFile {
  readonly #path: string
  readonly #handler: RequestHandler
  #modified = new Date()
  #response: Uint8Array | undefined
  #position = 0

  constructor(path: string, answer: RequestHandler) {
    this.#path = path
    this.#handler = answer
  }

  async read(length: number): Promise<Uint8Array> {
    if (this.#response === undefined) {
      throw new VfsError('EINVAL', this.#path, {
        op: 'read',
        detail: 'write a request before you read its answer',
      })
    }
    const bytes = this.#response.subarray(this.#position, this.#position + length)
    this.#position += bytes.length
    return bytes
  }

  async write(data: Uint8Array, signal?: AbortSignal): Promise<void> {
    this.#response = undefined
    const response = await this.#handler(data, signal)
    this.#response = typeof response === 'string' ? encoder.encode(response) : response
    this.#position = 0
    this.#modified = new Date()
  }

  async close(): Promise<void> {
    this.#response = undefined
  }

  async stat(): Promise<DeviceStat> {
    return { size: this.#response?.length ?? 0, modified: this.#modified }
  }
}

type JsonRequestHandler = (request: unknown, signal: AbortSignal | undefined) => Promise<unknown>

class JsonRequestFile extends RequestFile {
  readonly #answer: JsonRequestHandler

  constructor(path: string, answer: JsonRequestHandler) {
    super(path, async (bytes, signal) => JSON.stringify(await answer(parseRequest(path, bytes), signal)))
    this.#answer = answer
  }

  request(body: unknown, signal?: AbortSignal): Promise<unknown> {
    return this.#answer(body, signal)
  }
}

/** Creates a request file with JSON requests and responses. EINVAL for invalid JSON. */
export function createJsonRequestFile(path: string, answer: JsonRequestHandler): DeviceFile {
  return new JsonRequestFile(path, answer)
}

function parseRequest(path: string, bytes: Uint8Array): unknown {
  try {
    return JSON.parse(decoder.decode(bytes))
  } catch (error) {
    const reason = error instanceof Error ? error.message : String(error)
    throw new VfsError('EINVAL', path, { op: 'write', detail: `the request is not valid JSON: ${reason}` })
  }
}
