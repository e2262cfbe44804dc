import { VfsError } from '../../vfs/index.ts'

/** Encoding of a text file and its byte order mark. */
export interface Encoding {
  readonly name: 'utf-8' | 'utf-16le' | 'utf-16be'
  readonly mark: Uint8Array
}

const PLAIN_UTF8: Encoding = { name: 'utf-8', mark: new Uint8Array() }
const BOM_ENCODINGS: readonly Encoding[] = [
  { name: 'utf-8', mark: Uint8Array.of(0xef, 0xbb, 0xbf) },
  { name: 'utf-16le', mark: Uint8Array.of(0xff, 0xfe) },
  { name: 'utf-16be', mark: Uint8Array.of(0xfe, 0xff) },
]

/** Detects the encoding by the byte order mark; UTF-8 without one. */
export function detectEncoding(start: Uint8Array): Encoding {
  return BOM_ENCODINGS.find(({ mark }) => mark.every((byte, index) => start[index] === byte)) ?? PLAIN_UTF8
}

/** A text with its encoding. */
export interface DecodedText {
  readonly text: string
  readonly encoding: Encoding
}

/** Decodes a file exactly. EINVAL for invalid text, since it could not be stored again unchanged. */
export function decodeExactly(bytes: Uint8Array, path: string): DecodedText {
  const encoding = detectEncoding(bytes)
  const text = tryDecode(bytes.subarray(encoding.mark.length), encoding)
  if (text === null || text.includes('\0')) {
    const detail = `not a text file: it is not valid ${encoding.name.toUpperCase()}, so an edit would damage it`
    throw new VfsError('EINVAL', path, { op: 'edit', detail })
  }
  return { text, encoding }
}

/** Encodes a text in its original encoding. */
export function encode({ text, encoding }: DecodedText): Uint8Array {
  return Buffer.concat([encoding.mark, encodeBody(text, encoding)])
}

/** Throws EINVAL for text that cannot be stored: half a character, or a NUL, which would make the file binary. */
export function assertStorable(text: string, argument: string, path: string): void {
  const detail = !text.isWellFormed()
    ? `'${argument}' is not valid Unicode: it contains half of a surrogate pair`
    : text.includes('\0')
      ? `'${argument}' contains a NUL character, which a text file must not have`
      : undefined
  if (detail !== undefined) throw new VfsError('EINVAL', path, { op: 'write', detail })
}

function tryDecode(bytes: Uint8Array, { name }: Encoding): string | null {
  try {
    return new TextDecoder(name, { fatal: true, ignoreBOM: true }).decode(bytes)
  } catch {
    return null
  }
}

function encodeBody(text: string, { name }: Encoding): Buffer {
  if (name === 'utf-8') return Buffer.from(text)
  const bytes = Buffer.from(text, 'utf16le')
  return name === 'utf-16be' ? bytes.swap16() : bytes
}
