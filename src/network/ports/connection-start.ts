/** Longest head of a request that is searched for its host. */
const MAX_HEAD_BYTES = 64 * 1024
/** The beginning of a request: a method and a space. Browsers send both at once. */
const METHOD = /^[A-Z]{3,20} /
const REQUEST_LINE = /^[A-Z]+ \S+ HTTP\/1\.[01]$/
const HOST_LINE = /^host[ \t]*:[ \t]*(.*?)[ \t]*$/i

/**
 * The beginning of a connection: another protocol than HTTP/1, too few bytes to decide, or a request and the one host
 * that it names.
 */
export type ConnectionStart =
  | { readonly kind: 'other' }
  | { readonly kind: 'unfinished' }
  | { readonly kind: 'request'; readonly host: string | undefined }

/** Recognises the protocol of a connection, and the host of its first request: without its port, in lower case. */
export function readConnectionStart(bytes: Buffer): ConnectionStart {
  const text = bytes.toString('latin1', 0, MAX_HEAD_BYTES)
  if (!METHOD.test(text)) return { kind: 'other' }
  const isCut = bytes.length >= MAX_HEAD_BYTES
  const end = text.search(/\r?\n\r?\n/)
  const [first = '', ...lines] = text.slice(0, end === -1 ? undefined : end).split(/\r?\n/)
  if (lines.length === 0 && end === -1 && !isCut) return { kind: 'unfinished' }
  if (!REQUEST_LINE.test(first)) return { kind: 'other' }
  if (end === -1) return isCut ? { kind: 'request', host: undefined } : { kind: 'unfinished' }
  const hosts = lines.flatMap((line) => HOST_LINE.exec(line)?.[1] ?? [])
  // Two of them: programs differ in which one they take.
  return { kind: 'request', host: hosts.length === 1 ? removePort(hosts[0] ?? '') : undefined }
}

function removePort(host: string): string {
  return host.replace(/:\d*$/, '').replace(/\.$/, '').toLowerCase()
}
