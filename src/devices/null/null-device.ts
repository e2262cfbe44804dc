import { randomBytes } from 'node:crypto'
import type { Device, DeviceFile } from '../../kernel/index.ts'

/** An open file gives so much and then ends: whoever reads to the end is to come to one. */
const MAX_RANDOM_BYTES = 64 * 1024

/** Empty, and takes whatever is written. */
export function nullDevice(): Device {
  return { match: 'exact', open: () => createFile(() => new Uint8Array()) }
}

/** Random bytes, up to 64 KiB for each time it is opened. */
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
