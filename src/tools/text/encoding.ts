import { VfsError } from '../../vfs/index.ts'

/** How a text file's characters are stored, and with which mark in front. */
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

/** The encoding the first bytes of a file tell: UTF-8 unless a byte order mark says otherwise. */
export function detectEncoding(start: Uint8Array): Encoding {
  return BOM_ENCODINGS.find(({ mark }) => mark.every((byte, at) => start[at] === byte)) ?? PLAIN_UTF8
}

/** A text and how it was stored. */
export interface DecodedText {
  readonly text: string
  readonly encoding: Encoding
}

/** A file's text, exactly: what is not valid text is EINVAL, for it could not be stored again as it was. */
export function decodeExactly(bytes: Uint8Array, path: string): DecodedText {
  const encoding = detectEncoding(bytes)
  const text = tryDecode(bytes.subarray(encoding.mark.length), encoding)
  if (text === null || text.includes('\0')) {
    const detail = `not a text file: it is not valid ${encoding.name.toUpperCase()}, so an edit would damage it`
    throw new VfsError('EINVAL', path, { op: 'edit', detail })
  }
  return { text, encoding }
}

/** The bytes of a text, stored as it was. */
export function encode({ text, encoding }: DecodedText): Uint8Array {
  return Buffer.concat([encoding.mark, encodeBody(text, encoding)])
}

/** EINVAL for what no text file can hold: half a character, or a NUL, which would make it a binary file for every tool. */
export function assertStorable(text: string, argument: string, path: string): void {
  const detail = !text.isWellFormed()
    ? `'${argument}' is not valid Unicode: it holds half of a surrogate pair`
    : text.includes('\0')
      ? `'${argument}' holds a NUL character, which no text file does: it could not be read or edited again`
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
