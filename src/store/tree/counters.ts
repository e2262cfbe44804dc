import { ByteReader, ByteWriter } from './byte-codec.ts'

/** What a vault knows of itself without looking at every file. */
export interface Counters {
  readonly nextInode: number
  /** Everything that is not a directory. */
  readonly files: number
  /** The sum of the sizes of regular files. */
  readonly bytes: number
  /** While there are none, no path needs to be searched for them. */
  readonly symlinks: number
}

export const emptyCounters: Counters = { nextInode: 2, files: 0, bytes: 0, symlinks: 0 }

const writer = new ByteWriter()

/** As they are stored. In memory they stay numbers: they change with almost every mutation. */
export function encodeCounters({ nextInode, files, bytes, symlinks }: Counters): Uint8Array {
  for (const value of [nextInode, files, bytes, symlinks]) writer.varint(value)
  return writer.takeBytes()
}

export function decodeCounters(value: Uint8Array): Counters {
  const reader = new ByteReader(value)
  const [nextInode, files] = [reader.varint(), reader.varint()]
  return { nextInode, files, bytes: reader.varint(), symlinks: reader.varint() }
}
