/** As much as a message over standard output may have, which the SDK bounds itself. */
const MAX_MESSAGE_BYTES = 10 * 1024 * 1024
const NEWLINE = 0x0a
const RETURN = 0x0d

/**
 * Fetches an answer of a server whose messages are bounded: an answer in one piece as a whole, a stream of events
 * between two blank lines. What is longer ends the answer with an error, and is not held.
 */
export async function fetchBounded(url: string | URL, init?: RequestInit): Promise<Response> {
  const response = await fetch(url, init)
  if (response.body === null) return response
  const isStream = response.headers.get('content-type')?.includes('text/event-stream') === true
  const { status, statusText, headers } = response
  return new Response(response.body.pipeThrough(limitMessages(isStream)), { status, statusText, headers })
}

function limitMessages(isStream: boolean): TransformStream<Uint8Array, Uint8Array> {
  let length = 0
  let isLineEmpty = false
  return new TransformStream({
    transform: (chunk, controller) => {
      for (const byte of chunk) {
        length++
        if (byte === RETURN) continue
        const endsLine = byte === NEWLINE
        if (isStream && endsLine && isLineEmpty) length = 0
        isLineEmpty = endsLine
        if (length > MAX_MESSAGE_BYTES) {
          throw new Error(`a message of more than ${MAX_MESSAGE_BYTES} bytes`)
        }
      }
      controller.enqueue(chunk)
    },
  })
}
