import { closeSync, openSync, readSync } from 'node:fs'
import { loadCrypto } from './load-on-use.ts'

/**
 * Returns random bytes of the system. They come from its device where there is one: `node:crypto`, which reads the same
 * source, takes five milliseconds to load.
 */
export function createRandomBytes(count: number): Buffer {
  const bytes = Buffer.alloc(count)
  return tryFill(bytes) ? bytes : loadCrypto().randomBytes(count)
}

/** Creates a random id in the form of a UUID. */
export function createRandomId(): string {
  const bytes = createRandomBytes(16)
  // Version 4, variant 1.
  bytes.writeUInt8((bytes.readUInt8(6) & 0x0f) | 0x40, 6)
  bytes.writeUInt8((bytes.readUInt8(8) & 0x3f) | 0x80, 8)
  return bytes.toString('hex').replace(/^(.{8})(.{4})(.{4})(.{4})/, '$1-$2-$3-$4-')
}

function tryFill(bytes: Buffer): boolean {
  let device: number
  try {
    device = openSync('/dev/urandom', 'r')
  } catch {
    return false
  }
  try {
    let filled = 0
    while (filled < bytes.length) {
      const read = readSync(device, bytes, filled, bytes.length - filled, null)
      // A device has no end; an ordinary file in its place does.
      if (read === 0) return false
      filled += read
    }
    return true
  } finally {
    closeSync(device)
  }
}
