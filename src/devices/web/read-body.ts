import type { IncomingMessage } from 'node:http'
import type { Transform } from 'node:stream'
import { createBrotliDecompress, createGunzip, createInflate } from 'node:zlib'
import { VfsError } from '../../vfs/index.ts'

const decoders: Readonly<Record<string, () => Transform>> = {
  gzip: createGunzip,
  'x-gzip': createGunzip,
  deflate: createInflate,
  br: createBrotliDecompress,
}

/** Content encodings that `readBody` decodes, for the Accept-Encoding header. */
export const ACCEPTED_ENCODINGS = 'gzip, deflate, br'

/** Reads and decodes a whole body. EFBIG if it is larger than the limit when decoded; EIO if it cannot be decoded. */
export async function readBody(message: IncomingMessage, url: string, maxBytes: number): Promise<Buffer> {
  const encoding = message.headers['content-encoding']?.trim().toLowerCase() || 'identity'
  if (encoding === 'identity') return readBounded(message, url, maxBytes)
  const decoder = Object.hasOwn(decoders, encoding) ? decoders[encoding]?.() : undefined
  if (decoder === undefined) {
    message.destroy()
    throw new VfsError('EIO', url, {
      op: 'fetch',
      detail: `the server compressed the page with ${encoding}, which is not supported`,
    })
  }
  message.on('error', (error) => decoder.destroy(error))
  try {
    return await readBounded(message.pipe(decoder), url, maxBytes)
  } catch (error) {
    if (error instanceof VfsError || message.errored) throw message.errored ?? error
    const why = error instanceof Error ? error.message : String(error)
    throw new VfsError('EIO', url, { op: 'fetch', detail: `the response cannot be decompressed: ${why}` })
  } finally {
    message.destroy()
    decoder.destroy()
  }
}

/** Reads a stream to its end. EFBIG as soon as it exceeds the limit, which closes the stream. */
export async function readBounded(
  stream: AsyncIterable<Uint8Array>,
  url: string,
  maxBytes: number,
): Promise<Buffer> {
  const chunks: Uint8Array[] = []
  let size = 0
  for await (const chunk of stream) {
    size += chunk.length
    // Leaving the loop closes the stream, and with it the connection.
    if (size > maxBytes) {
      throw new VfsError('EFBIG', url, {
        op: 'fetch',
        detail: `the response is larger than ${maxBytes} bytes`,
      })
    }
    chunks.push(chunk)
  }
  return Buffer.concat(chunks)
}
