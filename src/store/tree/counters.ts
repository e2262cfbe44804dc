import { ByteReader, ByteWriter } from './byte-codec.ts'

/** Totals of a vault, kept without reading every file. */
export interface Counters {
  readonly nextInode: number
  /** Number of inodes other than directories. */
  readonly files: number
  /** Sum of the sizes of regular files. */
  readonly bytes: number
  /** Number of symlinks; with none, path lookups skip them. */
  readonly symlinks: number
}

export const emptyCounters: Counters = { nextInode: 2, files: 0, bytes: 0, symlinks: 0 }

const writer = new ByteWriter()

/** Encodes the counters. In memory they stay numbers: they change with almost every operation. */
export function encodeCounters({ nextInode, files, bytes, symlinks }: Counters): Uint8Array {
  for (const value of [nextInode, files, bytes, symlinks]) writer.varint(value)
  return writer.takeBytes()
}

export function decodeCounters(value: Uint8Array): Counters {
  const reader = new ByteReader(value)
  const [nextInode, files] = [reader.varint(), reader.varint()]
  return { nextInode, files, bytes: reader.varint(), symlinks: reader.varint() }
}
