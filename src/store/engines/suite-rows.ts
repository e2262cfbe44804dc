import type { BlobRow, HashRow, JournalRow } from '../engine.ts'

export function bytes(content: string): Uint8Array {
  return new TextEncoder().encode(content)
}

export function text(found: Uint8Array | undefined): string | undefined {
  return found && Buffer.from(found).toString()
}

export function row(vault: number, seq: number, content = 'j'): JournalRow {
  return { vault, seq, bytes: bytes(content) }
}

export function getSeq({ seq }: JournalRow): number {
  return seq
}

/** Returns a hash of real length; an empty one for no content. */
export function createTestHash(content: string): Uint8Array {
  return bytes(content === '' ? '' : content.padEnd(32, '#'))
}

export function blob(id: number, content: string): BlobRow {
  return { id, hash: createTestHash(content), bytes: bytes(content) }
}

/** Creates a row that maps this content's hash to a blob. */
export function createHashRow(id: number, content: string): HashRow {
  return { hash: createTestHash(content), blob: id }
}
