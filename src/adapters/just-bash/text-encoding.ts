import type { BufferEncoding, ByteString, FileContent } from 'just-bash'

/** Options of just-bash that may name an encoding, or be one. */
type EncodingOption = { readonly encoding?: BufferEncoding | null } | BufferEncoding | undefined

const decoder = new TextDecoder()

/** Encodes content written by a script; UTF-8 by default. */
export function toBytes(content: FileContent, option: EncodingOption): Uint8Array {
  return typeof content === 'string' ? Buffer.from(content, getEncoding(option)) : content
}

export function toText(bytes: Uint8Array, option: EncodingOption): string {
  const encoding = getEncoding(option)
  // A decoder, not a Buffer, for text: it drops a byte order mark, as just-bash's own file systems do.
  if (encoding === 'utf8') return decoder.decode(bytes)
  return Buffer.from(bytes.buffer, bytes.byteOffset, bytes.length).toString(encoding)
}

/** Returns one character per byte, the form in which scripts pass bytes. */
export function toByteString(bytes: Uint8Array): ByteString {
  const text: unknown = Buffer.from(bytes.buffer, bytes.byteOffset, bytes.length).toString('latin1')
  if (isByteString(text)) return text
  // Never reached: the check is for the compiler.
  throw new TypeError('a byte string must be a string')
}

/** A type guard in place of a cast: the type is branded, and at run time any string is one. */
function isByteString(text: unknown): text is ByteString {
  return typeof text === 'string'
}

function getEncoding(option: EncodingOption): BufferEncoding {
  const encoding = (typeof option === 'string' ? option : option?.encoding) ?? 'utf8'
  // Node drops the eighth bit of ASCII; just-bash treats ASCII as text.
  return encoding === 'utf-8' || encoding === 'ascii' ? 'utf8' : encoding
}
