import { ReadableStream } from 'node:stream/web'
import { createArgumentTypeError, getOption } from './parse-arguments.ts'

const CHUNK_BYTES = 16 * 1024

/** The part of an open file that a stream needs. */
interface StreamedFile {
  read(buffer: Uint8Array, offset: number, length: number): Promise<{ readonly bytesRead: number }>
  close(): Promise<void>
  once(event: 'close', listener: () => void): unknown
}

/** Streams the rest of an open file, as `FileHandle.readableWebStream`. Ends when the file is closed. */
export function createWebStream(handle: StreamedFile, options: unknown): ReadableStream {
  if (typeof options !== 'object' || options === null)
    throw createArgumentTypeError('options', 'of type object', options)
  const autoClose = getOption(options, 'autoClose') ?? false
  if (typeof autoClose !== 'boolean')
    throw createArgumentTypeError('options.autoClose', 'of type boolean', autoClose)
  const closeIfAutomatic = async () => {
    if (autoClose) await handle.close()
  }
  let hasEnded = false
  return new ReadableStream({
    type: 'bytes',
    autoAllocateChunkSize: CHUNK_BYTES,
    start: (controller) => {
      handle.once('close', () => {
        if (hasEnded) return
        hasEnded = true
        controller.close()
        controller.byobRequest?.respond(0)
      })
    },
    pull: async (controller) => {
      const request = controller.byobRequest
      if (!(request?.view instanceof Uint8Array)) return
      const { bytesRead } = await handle.read(request.view, 0, request.view.byteLength)
      // The file was closed; the stream has ended.
      if (hasEnded) return
      if (bytesRead === 0) {
        hasEnded = true
        controller.close()
      }
      request.respond(bytesRead)
      if (bytesRead === 0) await closeIfAutomatic()
    },
    cancel: async () => {
      hasEnded = true
      await closeIfAutomatic()
    },
  })
}
