import type { BufferEncoding, ByteString, FileContent } from 'just-bash'

/** Options of just-bash that may name an encoding, or be one. */
type EncodingOption = { readonly encoding?: BufferEncoding | null } | BufferEncoding | undefined

const decoder = new TextDecoder()

/** What a script wrote as bytes; UTF-8 unless it says otherwise. */
export function toBytes(content: FileContent, option: EncodingOption): Uint8Array {
  return typeof content === 'string' ? Buffer.from(content, getEncoding(option)) : content
}

export function toText(bytes: Uint8Array, option: EncodingOption): string {
  const encoding = getEncoding(option)
  // A decoder, not a Buffer, for text: it drops a byte order mark, as just-bash's own file systems do.
  if (encoding === 'utf8') return decoder.decode(bytes)
  return Buffer.from(bytes.buffer, bytes.byteOffset, bytes.length).toString(encoding)
}

/** One character for each byte, which is how a script passes bytes on. */
export function toByteString(bytes: Uint8Array): ByteString {
  const text: unknown = Buffer.from(bytes.buffer, bytes.byteOffset, bytes.length).toString('latin1')
  if (isByteString(text)) return text
  throw new TypeError('a string is a byte string')
}

/** just-bash marks these strings in its types alone. */
function isByteString(text: unknown): text is ByteString {
  return typeof text === 'string'
}

function getEncoding(option: EncodingOption): BufferEncoding {
  const encoding = (typeof option === 'string' ? option : option?.encoding) ?? 'utf8'
  // Node drops the eighth bit of what it calls ASCII; to just-bash it is text like any other.
  return encoding === 'utf-8' || encoding === 'ascii' ? 'utf8' : encoding
}
