import type { Batch, BlobRow, Engine, JournalRow, RecordRow } from '../engine.ts'

/** A home in memory: for tests and for work that need not outlive the process. */
export class MemoryEngine implements Engine {
  readonly name = 'memory'
  readonly #pages = new Map<number, Uint8Array>()
  readonly #blobs = new Map<number, BlobRow>()
  readonly #hashes = new Map<string, number>()
  readonly #records = new Map<string, Uint8Array>()
  readonly #journals = new Map<number, Uint8Array[]>()
  #commits = 0

  readPage(id: number): Uint8Array | undefined {
    return this.#pages.get(id)
  }

  readBlob(id: number): Uint8Array | undefined {
    return this.#blobs.get(id)?.bytes
  }

  findBlob(hash: Uint8Array): number | undefined {
    return this.#hashes.get(hexOf(hash))
  }

  readRecord(key: string): Uint8Array | undefined {
    return this.#records.get(key)
  }

  listRecords(prefix: string): RecordRow[] {
    const rows = [...this.#records].map(([key, bytes]) => ({ key, bytes }))
    return rows.filter(({ key }) => key.startsWith(prefix)).sort((a, b) => (a.key < b.key ? -1 : 1))
  }

  readJournal(vault: number, after: number, limit: number): JournalRow[] {
    const rows = this.#journals.get(vault) ?? []
    return rows.slice(after, after + limit).map((bytes, index) => ({ vault, seq: after + index + 1, bytes }))
  }

  changeCount(): number {
    return this.#commits
  }

  commit(batch: Batch): boolean {
    if (!this.#isCurrent(batch)) return false
    this.#commits++
    for (const { key, bytes } of batch.records ?? []) {
      if (bytes === null) this.#records.delete(key)
      else this.#records.set(key, bytes)
    }
    for (const { id, bytes } of batch.pages ?? []) this.#pages.set(id, bytes)
    for (const blob of batch.blobs ?? []) {
      this.#blobs.set(blob.id, blob)
      if (blob.hash.length > 0) this.#hashes.set(hexOf(blob.hash), blob.id)
    }
    for (const { vault, bytes } of batch.journal ?? []) {
      const rows = this.#journals.get(vault) ?? []
      rows.push(bytes)
      this.#journals.set(vault, rows)
    }
    return true
  }

  sync(): void {}

  async close(): Promise<void> {}

  [Symbol.asyncDispose](): Promise<void> {
    return this.close()
  }

  #isCurrent({ expect = [], journal = [] }: Batch): boolean {
    const recordsMatch = expect.every(({ key, bytes }) => isSame(this.#records.get(key) ?? null, bytes))
    return recordsMatch && journal.every(({ vault, seq }) => seq > (this.#journals.get(vault)?.length ?? 0))
  }
}

function isSame(one: Uint8Array | null, other: Uint8Array | null): boolean {
  return one === null || other === null ? one === other : Buffer.compare(one, other) === 0
}

function hexOf(bytes: Uint8Array): string {
  return Buffer.from(bytes.buffer, bytes.byteOffset, bytes.length).toString('hex')
}
