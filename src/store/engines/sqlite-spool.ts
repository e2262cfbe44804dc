import { closeSync, ftruncateSync, openSync, readFileSync, statSync, writeSync } from 'node:fs'
import { crc32 } from 'node:zlib'
import type { SpooledBatch } from '../engine.ts'
import { ByteReader, ByteWriter } from '../tree/bytes.ts'

/** How many bytes name the state of a store. */
const TOKEN_BYTES = 8
const HEADER_BYTES = 8
const ABSENT = 0
const PRESENT = 1

/**
 * A file beside the database with what its writer has acknowledged and not committed yet. Only whoever holds the
 * database's write lock touches it; what he finds there was left by one that was killed.
 * Each batch carries the token of the committed state it follows: on any other it means nothing.
 */
export class Spool {
  readonly #path: string
  readonly #writer = new ByteWriter()
  #fd: number | undefined
  #end = 0

  constructor(path: string) {
    this.#path = path
  }

  get isEmpty(): boolean {
    return (statSync(this.#path, { throwIfNoEntry: false })?.size ?? 0) === 0
  }

  /** Survives the end of this process when it returns. */
  append(batch: SpooledBatch, token: Uint8Array): void {
    this.#fd ??= openSync(this.#path, 'w')
    const whole = this.#framed(batch, token)
    const written = writeSync(this.#fd, whole, 0, whole.length, this.#end)
    if (written !== whole.length) throw new Error('ENOSPC: no space left for the spool')
    this.#end += written
  }

  /** The whole batches that follow a state, in order. */
  *batchesAfter(token: Uint8Array): Generator<SpooledBatch> {
    const bytes = readFileSync(this.#path)
    for (let at = 0; at + HEADER_BYTES <= bytes.length; ) {
      const start = at + HEADER_BYTES
      const end = start + bytes.readUInt32LE(at)
      const body = bytes.subarray(start, end)
      // The last one may be torn: its writer was killed before anybody was told of it.
      if (end > bytes.length || crc32(body) !== bytes.readUInt32LE(at + 4)) return
      if (Buffer.compare(body.subarray(0, TOKEN_BYTES), token) !== 0) return
      yield decoded(new ByteReader(body, TOKEN_BYTES))
      at = end
    }
  }

  /** Everything in it is committed. */
  clear(): void {
    this.#fd ??= openSync(this.#path, 'w')
    ftruncateSync(this.#fd)
    this.#end = 0
  }

  /** A batch behind its length and checksum, in one piece: a second buffer would cost as much as the write. */
  #framed(batch: SpooledBatch, token: Uint8Array): Uint8Array {
    const writer = this.#writer
    writer.clear()
    for (let count = 0; count < HEADER_BYTES; count++) writer.byte(0)
    const whole = encoded(writer, batch, token)
    const body = whole.subarray(HEADER_BYTES)
    const header = new DataView(whole.buffer, whole.byteOffset, HEADER_BYTES)
    header.setUint32(0, body.length, true)
    header.setUint32(4, crc32(body), true)
    return whole
  }

  close(): void {
    if (this.#fd !== undefined) closeSync(this.#fd)
    this.#fd = undefined
  }
}

function encoded(
  writer: ByteWriter,
  { pages = [], blobs = [], journal = [], records = [] }: SpooledBatch,
  token: Uint8Array,
): Uint8Array {
  for (const byte of token) writer.byte(byte)
  writer.varint(pages.length)
  for (const { id, bytes } of pages) {
    writer.varint(id)
    writer.bytes(bytes)
  }
  writer.varint(blobs.length)
  for (const { id, hash, bytes } of blobs) {
    writer.varint(id)
    writer.bytes(hash)
    writer.bytes(bytes)
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
  return writer.view()
}

function decoded(reader: ByteReader): SpooledBatch {
  const listOf = <T>(read: () => T): T[] => Array.from({ length: reader.varint() }, read)
  return {
    pages: listOf(() => ({ id: reader.varint(), bytes: reader.bytes() })),
    blobs: listOf(() => ({ id: reader.varint(), hash: reader.bytes(), bytes: reader.bytes() })),
    journal: listOf(() => ({ vault: reader.varint(), seq: reader.varint(), bytes: reader.bytes() })),
    records: listOf(() => ({ key: reader.text(), bytes: reader.byte() === PRESENT ? reader.bytes() : null })),
  }
}
