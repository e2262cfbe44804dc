import { crc32 } from 'node:zlib'
import { VfsError } from '../vfs/index.ts'

const CHECKSUM_BYTES = 4

/** Encodes a value as the store keeps it outside of pages: its checksum, then JSON. */
export function encodeChecksummedJson(value: unknown): Uint8Array {
  return encodeChecksummedText(JSON.stringify(value))
}

/** Encodes JSON text in the same way. */
export function encodeChecksummedText(text: string): Uint8Array {
  const sealed = Buffer.allocUnsafe(CHECKSUM_BYTES + Buffer.byteLength(text))
  sealed.write(text, CHECKSUM_BYTES)
  sealed.writeUInt32LE(crc32(sealed.subarray(CHECKSUM_BYTES)))
  return sealed
}

/** Decodes the value. EIO if the checksum does not match; `name` is that of the value, for the message. */
export function decodeChecksummedJson<T>(bytes: Uint8Array, name: string): T {
  const sealed = Buffer.from(bytes.buffer, bytes.byteOffset, bytes.length)
  const content = sealed.subarray(CHECKSUM_BYTES)
  if (sealed.length > CHECKSUM_BYTES && sealed.readUInt32LE() === crc32(content))
    return JSON.parse(content.toString())
  throw new VfsError('EIO', name, { op: 'load', detail: `${name} is damaged; run fsck` })
}
