/** Limit of a message, the same as that of the SDK's transport over standard output. */
const MAX_MESSAGE_BYTES = 10 * 1024 * 1024
const NEWLINE = 0x0a
const RETURN = 0x0d

/**
 * Fetches a response with bounded messages: a plain response as a whole, an event stream by its events, which empty
 * lines separate. A longer message fails the response and is not buffered.
 */
export async function fetchBounded(url: string | URL, init?: RequestInit): Promise<Response> {
  const response = await fetch(url, init)
  if (response.body === null) return response
  const isStream = /^text\/event-stream\b/i.test(response.headers.get('content-type') ?? '')
  const { status, statusText, headers } = response
  return new Response(response.body.pipeThrough(limitMessages(isStream)), { status, statusText, headers })
}

function limitMessages(isStream: boolean): TransformStream<Uint8Array, Uint8Array> {
  let length = 0
  let isLineEmpty = false
  let last = 0
  return new TransformStream({
    transform: (chunk, controller) => {
      for (const byte of chunk) {
        length++
        // A line ends with a newline, a return, or both.
        const isSecondHalf = byte === NEWLINE && last === RETURN
        last = byte
        if (isSecondHalf) continue
        const endsLine = byte === NEWLINE || byte === RETURN
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
