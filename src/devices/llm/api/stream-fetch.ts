import { VfsError } from '../../../vfs/index.ts'

/** Enough of a document to recognise the error message in it. */
const MAX_EXCERPT_CHARACTERS = 200
/** Matches the first field of an event, or a comment. */
const EVENT_FIELD = /^(?:data|event|id|retry)?:/

/**
 * Creates a `fetch` for streamed responses. A success with a web page or another document in place of a stream is EIO:
 * the base URL leads elsewhere, and a repeated request would get the same.
 */
export function createStreamFetch(path: string): typeof fetch {
  return async (input, init) => {
    const response = await fetch(input, init)
    return response.ok && !isEventStream(response) ? requireEvents(path, response) : response
  }
}

function isEventStream({ headers }: Response): boolean {
  return headers.get('content-type')?.startsWith('text/event-stream') === true
}

/**
 * Returns the response if its first bytes are events; EIO if they are a document. Some servers send their events with
 * another content type or none.
 */
async function requireEvents(path: string, response: Response): Promise<Response> {
  if (response.body === null) return response
  const reader = response.body.getReader()
  const first = await reader.read()
  const start = new TextDecoder().decode(first.value).trimStart()
  const type = response.headers.get('content-type') ?? 'no content type'
  const kind = recogniseDocument(start)
  if (kind === undefined) return new Response(ReadableStream.from(replay(first, reader)), response)
  await reader.cancel()
  const excerpt = kind === 'a web page' ? '' : `: ${start.slice(0, MAX_EXCERPT_CHARACTERS).toWellFormed()}`
  const url = formatUrl(response.url)
  const detail = `the provider answered with ${kind} (${type}) in place of a stream; check the base URL: the request went to ${url}${excerpt}`
  throw new VfsError('EIO', path, { op: 'write', detail })
}

function recogniseDocument(start: string): 'a web page' | 'a document' | undefined {
  if (start === '' || EVENT_FIELD.test(start)) return undefined
  return start.startsWith('<') ? 'a web page' : 'a document'
}

/** Formats an address without its query and password, which may be secret. */
function formatUrl(url: string): string {
  const { origin, pathname } = new URL(url)
  return `${origin}${pathname}`
}

type Reader = ReadableStreamDefaultReader<Uint8Array<ArrayBuffer>>

async function* replay(
  first: Awaited<ReturnType<Reader['read']>>,
  reader: Reader,
): AsyncGenerator<Uint8Array<ArrayBuffer>> {
  try {
    for (let part = first; !part.done; part = await reader.read()) yield part.value
  } finally {
    await reader.cancel()
  }
}
