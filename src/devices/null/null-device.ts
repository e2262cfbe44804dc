import { randomBytes } from 'node:crypto'
import type { Device, DeviceFile } from '../../kernel/index.ts'

/** Limit of an open file, so that a reader reaches the end. */
const MAX_RANDOM_BYTES = 64 * 1024

/** Creates a device that reads as empty and discards writes. */
export function nullDevice(): Device {
  return { match: 'exact', open: () => createFile(() => new Uint8Array()) }
}

/** Creates a device of random bytes, up to 64 KiB per open. */
export function randomDevice(bytes: (length: number) => Uint8Array = randomBytes): Device {
  return {
    match: 'exact',
    open: () => {
      let left = MAX_RANDOM_BYTES
      return createFile((length) => {
        const given = Math.min(length, left)
        left -= given
        return bytes(given)
      })
    },
  }
}

function createFile(read: (length: number) => Uint8Array): DeviceFile {
  const modified = new Date()
  return {
    read: async (length) => read(length),
    write: async () => {},
    close: async () => {},
    stat: async () => ({ size: 0, modified }),
  }
}
