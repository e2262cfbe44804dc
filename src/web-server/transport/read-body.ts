import type { IncomingMessage } from 'node:http'
import { VfsError } from '../../vfs/index.ts'

/** Reads the JSON of a body. EFBIG if it is longer than the limit or than it says, EINVAL if it is no JSON. */
export async function readJsonBody(request: IncomingMessage, maxBytes: number): Promise<unknown> {
  const announced = Number(request.headers['content-length'])
  if (!(announced <= maxBytes)) throw createSizeError(maxBytes)
  const parts: Buffer[] = []
  let length = 0
  for await (const part of request) {
    parts.push(part)
    length += part.length
    if (length > announced) throw createSizeError(maxBytes)
  }
  try {
    return JSON.parse(new TextDecoder('utf-8', { fatal: true }).decode(Buffer.concat(parts)))
  } catch {
    throw new VfsError('EINVAL', '/', { op: 'request', detail: 'the body is not JSON' })
  }
}

function createSizeError(maxBytes: number): VfsError {
  const detail = `the request is too large; the limit is ${maxBytes} bytes`
  return new VfsError('EFBIG', '/', { op: 'request', detail })
}
