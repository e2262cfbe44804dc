import { closeSync, ftruncateSync, openSync, readFileSync, readSync, statSync, writeSync } from 'node:fs'
import { crc32 } from 'node:zlib'
import { makePrivateFile } from '../../machine/index.ts'
import type { SideLogBatch } from '../engine.ts'
import { ByteReader, ByteWriter } from '../tree/byte-codec.ts'

/** Length of a token, which names a committed state of the store. */
export const TOKEN_BYTES = 8
/** Key of the record with the token, and ending of the side log's file, under the name that both have on disk. */
export const SIDE_LOG_NAME = 'spool'
/** A frame starts with the length of its batch and its checksum. */
const HEADER_BYTES = 8
const CHECKSUM_OFFSET = 4
/** A side log up to this size keeps its size: overwriting is quicker than growing a file. */
const MAX_REUSED_BYTES = 1024 * 1024
const ABSENT = 0
const PRESENT = 1

/**
 * Write-ahead side log: a file beside the database with batches that are acknowledged and not committed yet. Only the
 * owner of the database's write lock writes it; batches it finds for the committed state are those of a killed process.
 * Each batch has the token of the state it follows and means nothing on another. So a commit need not clear the file,
 * and remains of earlier batches behind the last one do no harm.
 */
export class SideLog {
  readonly #path: string
  readonly #writer = new ByteWriter()
  readonly #header = Buffer.alloc(HEADER_BYTES + TOKEN_BYTES)
  #fd: number | undefined
  #isWritable = false
  #end = 0

  constructor(path: string) {
    this.#path = path
  }

  /** Token of the state that the first batch follows; undefined if there is no batch. */
  get token(): Uint8Array | undefined {
    if (this.#fd === undefined && (statSync(this.#path, { throwIfNoEntry: false })?.size ?? 0) === 0)
      return undefined
    this.#fd ??= openSync(this.#path, 'r')
    const length = readSync(this.#fd, this.#header, 0, this.#header.length, 0)
    return length < this.#header.length ? undefined : this.#header.subarray(HEADER_BYTES)
  }

  /**
   * Makes the next batch overwrite the file from its beginning. Needs the lock, and no batch that follows the committed
   * state.
   */
  rewind(): void {
    if (this.#end > MAX_REUSED_BYTES) this.truncate()
    this.#end = 0
  }

  /** Frees the file's space. Needs the lock, and no batch that follows the committed state. */
  truncate(): void {
    ftruncateSync(this.#openForWriting())
    this.#end = 0
  }

  /** Writes a batch, which then survives the end of this process. */
  append(batch: SideLogBatch, token: Uint8Array): void {
    const whole = this.#encodeFrame(batch, token)
    const written = writeSync(this.#openForWriting(), whole, 0, whole.length, this.#end)
    if (written !== whole.length) throw new Error('ENOSPC: no space left for the side log')
    this.#end += written
  }

  /** Reads the whole batches that follow a state, in order. */
  *readBatchesAfter(token: Uint8Array): Generator<SideLogBatch> {
    const bytes = readFileSync(this.#path)
    for (let offset = 0; offset + HEADER_BYTES <= bytes.length; ) {
      const start = offset + HEADER_BYTES
      const body = bytes.subarray(start, start + bytes.readUInt32LE(offset))
      // The last one may be torn: its writer was killed before it acknowledged the batch.
      if (crc32(body) !== bytes.readUInt32LE(offset + CHECKSUM_OFFSET)) return
      if (Buffer.compare(body.subarray(0, TOKEN_BYTES), token) !== 0) return
      const content = bytes.subarray(start + body.length)
      const { batch, length } = decodeBatch(new ByteReader(body, TOKEN_BYTES), content)
      if (batch === undefined) return
      yield batch
      offset = start + body.length + length
    }
  }

  /** Opens the file for writing; the first time, that empties it. */
  #openForWriting(): number {
    if (this.#fd !== undefined && this.#isWritable) return this.#fd
    this.close()
    makePrivateFile(this.#path)
    this.#fd = openSync(this.#path, 'w+')
    this.#isWritable = true
    return this.#fd
  }

  /**
   * Encodes length and checksum, the batch, then the content of its blobs, which have checksums of their own. One
   * buffer for all, because a second one would cost as much as the write.
   */
  #encodeFrame(batch: SideLogBatch, token: Uint8Array): Uint8Array {
    const writer = this.#writer
    writer.clear()
    writer.uint32(0)
    writer.uint32(0)
    encodeBatch(writer, batch, token)
    const length = writer.length
    for (const { bytes } of batch.blobs ?? []) writer.append(bytes)
    const whole = writer.view()
    const header = new DataView(whole.buffer, whole.byteOffset, HEADER_BYTES)
    header.setUint32(0, length - HEADER_BYTES, true)
    header.setUint32(CHECKSUM_OFFSET, crc32(whole.subarray(HEADER_BYTES, length)), true)
    return whole
  }

  close(): void {
    if (this.#fd !== undefined) closeSync(this.#fd)
    this.#fd = undefined
    this.#isWritable = false
  }
}

function encodeBatch(
  writer: ByteWriter,
  { pages = [], blobs = [], journal = [], records = [] }: SideLogBatch,
  token: Uint8Array,
): void {
  for (const byte of token) writer.byte(byte)
  writer.varint(pages.length)
  for (const { id, bytes } of pages) {
    writer.varint(id)
    writer.bytes(bytes)
  }
  writer.varint(blobs.length)
  for (const { id, hash, bytes, crc = crc32(bytes) } of blobs) {
    writer.varint(id)
    writer.bytes(hash)
    writer.varint(bytes.length)
    writer.uint32(crc)
  }
  writer.varint(journal.length)
  for (const { vault, seq, bytes } of journal) {
    writer.varint(vault)
    writer.varint(seq)
    writer.bytes(bytes)
  }
  writer.varint(records.length)
  for (const { key, bytes } of records) {
    writer.text(key)
    writer.byte(bytes === null ? ABSENT : PRESENT)
    if (bytes !== null) writer.bytes(bytes)
  }
}

/** Decodes a batch, undefined if its content is torn, and the length of that content. */
function decodeBatch(
  reader: ByteReader,
  content: Uint8Array,
): { readonly batch: SideLogBatch | undefined; readonly length: number } {
  const readList = <T>(read: () => T): T[] => Array.from({ length: reader.varint() }, read)
  let length = 0
  let isWhole = true
  const takeContent = (size: number, crc: number): Uint8Array => {
    const bytes = content.subarray(length, length + size)
    length += size
    isWhole &&= bytes.length === size && crc32(bytes) === crc
    return bytes
  }
  const batch = {
    pages: readList(() => ({ id: reader.varint(), bytes: reader.bytes() })),
    blobs: readList(() => {
      const [id, hash] = [reader.varint(), reader.bytes()]
      return { id, hash, bytes: takeContent(reader.varint(), reader.uint32()) }
    }),
    journal: readList(() => ({ vault: reader.varint(), seq: reader.varint(), bytes: reader.bytes() })),
    records: readList(() => ({
      key: reader.text(),
      bytes: reader.byte() === PRESENT ? reader.bytes() : null,
    })),
  }
  return { batch: isWhole ? batch : undefined, length }
}
