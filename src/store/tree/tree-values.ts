import type { FileType } from '../../vfs/index.ts'
import type { ByteReader, ByteWriter } from './byte-codec.ts'
import { type Counters, encodeCounters } from './counters.ts'
import type { ValueCodec } from './page-codec.ts'
import { entryKinds } from './tree-key.ts'

/** A time to the nanosecond: seconds since the epoch, and the rest. */
export interface Timestamp {
  readonly seconds: number
  readonly nanos: number
}

/** A reference to a blob, with its size and checksum. */
export interface BlobRef {
  readonly blob: number
  readonly size: number
  readonly crc: number
}

/** Chunk size of larger files; a partial change rewrites only the chunks it touches. */
export const CHUNK_BYTES: number = 32 * 1024

/** Content of a file: inline, in one blob, or in chunk entries. */
export type ContentRef = Uint8Array | BlobRef | 'chunks'

export interface Inode {
  readonly type: FileType
  readonly mode: number
  readonly uid: number
  readonly gid: number
  /** Names of a file; 1 for a directory, and 0 for what was removed while open. */
  readonly links: number
  /** Bytes of a file; of a directory one more than its subdirectories, or 0 if an earlier version made it uncounted. */
  readonly size: number
  readonly atime: Timestamp
  readonly mtime: Timestamp
  readonly ctime: Timestamp
  /** Journal row that last changed the content: the file's version. */
  readonly version: number
  /** Parent directory and name; additional names of a hard-linked file have their own entries. */
  readonly parent: number
  readonly name: string
  /** Content of a file; target of a symlink; number of a device as text. */
  readonly content: ContentRef
}

export interface DirectoryEntry {
  readonly inode: number
  readonly type: FileType
}

/** Value in a leaf; the kind of its key determines the type. Extended attributes, tags and metadata are plain bytes. */
export type TreeValue = Inode | DirectoryEntry | BlobRef | Counters | Uint8Array

const fileTypes: readonly FileType[] = ['file', 'directory', 'symlink', 'other']
/** Flags of optional inode fields; without them it has no owner, one name, and one time for all three. */
const OWNED = 1
const LINKED = 2
const CTIME = 4
const ATIME = 8
/** Forms of content. */
const INLINE = 0
const BLOB = 1
const CHUNKS = 2

export const treeValueCodec: ValueCodec<TreeValue> = {
  encode(value, writer) {
    if (value instanceof Uint8Array) writer.bytes(value)
    else if ('mtime' in value) encodeInode(value, writer)
    else if ('blob' in value) encodeBlobRef(value, writer)
    else if ('nextInode' in value) writer.bytes(encodeCounters(value))
    else {
      writer.varint(value.inode)
      writer.byte(fileTypes.indexOf(value.type))
    }
  },

  decode(kind, reader) {
    if (kind === entryKinds.inode) return decodeInode(reader)
    if (kind === entryKinds.entry) return { inode: reader.varint(), type: decodeType(reader) }
    if (kind === entryKinds.chunk) return decodeBlobRef(reader)
    return reader.bytes()
  },

  isPlainlyOther(one, other) {
    return 'mtime' in one && 'mtime' in other && (one.version !== other.version || one.size !== other.size)
  },

  listBlobs: listBlobRefs,
}

/** Lists the blobs to which a value refers. */
export function listBlobRefs(value: TreeValue): BlobRef[] {
  if (value instanceof Uint8Array) return []
  if ('blob' in value) return [value]
  return 'content' in value && value.content !== 'chunks' && !(value.content instanceof Uint8Array)
    ? [value.content]
    : []
}

function encodeInode(inode: Inode, writer: ByteWriter): void {
  const { uid, gid, links, mtime, ctime, atime } = inode
  const isOwned = uid !== 0 || gid !== 0
  const hasCtime = !isSameTime(ctime, mtime)
  const hasAtime = !isSameTime(atime, mtime)
  writer.byte(fileTypes.indexOf(inode.type))
  writer.byte(
    (isOwned ? OWNED : 0) | (links === 1 ? 0 : LINKED) | (hasCtime ? CTIME : 0) | (hasAtime ? ATIME : 0),
  )
  writer.varint(inode.mode)
  if (isOwned) writer.varint(uid)
  if (isOwned) writer.varint(gid)
  if (links !== 1) writer.varint(links)
  writer.varint(inode.size)
  encodeTime(mtime, writer)
  if (hasCtime) encodeTime(ctime, writer)
  if (hasAtime) encodeTime(atime, writer)
  writer.varint(inode.version)
  writer.varint(inode.parent)
  writer.text(inode.name)
  encodeContent(inode.content, writer)
}

function decodeInode(reader: ByteReader): Inode {
  const type = decodeType(reader)
  const flags = reader.byte()
  const mode = reader.varint()
  const uid = flags & OWNED ? reader.varint() : 0
  const gid = flags & OWNED ? reader.varint() : 0
  const links = flags & LINKED ? reader.varint() : 1
  const size = reader.varint()
  const mtime = decodeTime(reader)
  const ctime = flags & CTIME ? decodeTime(reader) : mtime
  const atime = flags & ATIME ? decodeTime(reader) : mtime
  const [version, parent, name] = [reader.varint(), reader.varint(), reader.text()]
  const content = decodeContent(reader)
  return { type, mode, uid, gid, links, size, mtime, ctime, atime, version, parent, name, content }
}

/**
 * Encodes text as bytes in a buffer of their own. `Buffer.from` returns a slice of a shared pool of 64 KB, which a
 * cached node would keep in memory.
 */
export function encodeOwnBytes(text: string, encoding: BufferEncoding = 'utf8'): Uint8Array {
  return new Uint8Array(Buffer.from(text, encoding))
}

export function isSameTime(one: Timestamp, other: Timestamp): boolean {
  return one === other || (one.seconds === other.seconds && one.nanos === other.nanos)
}

function encodeContent(content: ContentRef, writer: ByteWriter): void {
  if (content === 'chunks') writer.byte(CHUNKS)
  else if (content instanceof Uint8Array) {
    writer.byte(INLINE)
    writer.bytes(content)
  } else {
    writer.byte(BLOB)
    encodeBlobRef(content, writer)
  }
}

function decodeContent(reader: ByteReader): ContentRef {
  const form = reader.byte()
  if (form === INLINE) return reader.bytes()
  if (form === BLOB) return decodeBlobRef(reader)
  if (form === CHUNKS) return 'chunks'
  throw new RangeError(`no form of content has the number ${form}`)
}

function encodeBlobRef({ blob, size, crc }: BlobRef, writer: ByteWriter): void {
  writer.varint(blob)
  writer.varint(size)
  writer.uint32(crc)
}

function decodeBlobRef(reader: ByteReader): BlobRef {
  return { blob: reader.varint(), size: reader.varint(), crc: reader.uint32() }
}

/** Encodes a time. Seconds may be negative: even numbers are from the epoch on, odd ones before it. */
function encodeTime({ seconds, nanos }: Timestamp, writer: ByteWriter): void {
  writer.varint(seconds >= 0 ? seconds * 2 : -seconds * 2 - 1)
  writer.varint(nanos)
}

function decodeTime(reader: ByteReader): Timestamp {
  return { seconds: decodeSeconds(reader), nanos: reader.varint() }
}

function decodeSeconds(reader: ByteReader): number {
  const zigzag = reader.varint()
  return zigzag % 2 === 0 ? zigzag / 2 : -(zigzag + 1) / 2
}

function decodeType(reader: ByteReader): FileType {
  const type = fileTypes[reader.byte()]
  if (type === undefined) throw new RangeError('no file type has this number')
  return type
}
