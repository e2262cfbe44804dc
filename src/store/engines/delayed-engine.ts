import { setImmediate } from 'node:timers/promises'
import type { Answer, Batch, Engine, EngineUsage, JournalRow, RecordRow } from '../engine.ts'
import type { BoardEntry, SessionBoard } from '../sessions/session-board.ts'

/**
 * An engine as if it were a network away: every answer is a promise, and nothing is done or answered in the turn of
 * the event loop in which it was asked. For tests of what waits for an engine.
 */
export class DelayedEngine implements Engine {
  readonly name: string
  readonly board: SessionBoard | undefined
  readonly #inner: Engine

  constructor(inner: Engine) {
    this.name = `delayed ${inner.name}`
    this.#inner = inner
    this.board = inner.board && new DelayedBoard(inner.board)
  }

  readPage(id: number): Promise<Uint8Array | undefined> {
    return later(() => this.#inner.readPage(id))
  }

  readBlob(id: number): Promise<Uint8Array | undefined> {
    return later(() => this.#inner.readBlob(id))
  }

  findBlob(hash: Uint8Array): Promise<number | undefined> {
    return later(() => this.#inner.findBlob(hash))
  }

  readRecord(key: string): Promise<Uint8Array | undefined> {
    return later(() => this.#inner.readRecord(key))
  }

  listRecords(prefix: string): Promise<readonly RecordRow[]> {
    return later(() => this.#inner.listRecords(prefix))
  }

  readJournal(vault: number, after: number, limit: number): Promise<readonly JournalRow[]> {
    return later(() => this.#inner.readJournal(vault, after, limit))
  }

  listPages(after: number, limit: number): Promise<readonly number[]> {
    return later(() => this.#inner.listPages(after, limit))
  }

  listBlobs(after: number, limit: number): Promise<readonly number[]> {
    return later(() => this.#inner.listBlobs(after, limit))
  }

  usage(): Promise<EngineUsage> {
    return later(() => this.#inner.usage())
  }

  changeCount(): Promise<number> {
    return later(() => this.#inner.changeCount())
  }

  commit(batch: Batch): Promise<boolean> {
    return later(() => this.#inner.commit(batch))
  }

  shrink(): Promise<number> {
    return later(() => this.#inner.shrink?.() ?? 0)
  }

  sync(): Promise<void> {
    return later(() => this.#inner.sync())
  }

  close(): Promise<void> {
    return later(() => this.#inner.close())
  }

  [Symbol.asyncDispose](): Promise<void> {
    return this.close()
  }
}

class DelayedBoard implements SessionBoard {
  readonly #inner: SessionBoard

  constructor(inner: SessionBoard) {
    this.#inner = inner
  }

  post(id: string, text: string): Promise<void> {
    return later(() => this.#inner.post(id, text))
  }

  withdraw(id: string): Promise<void> {
    return later(() => this.#inner.withdraw(id))
  }

  ids(): Promise<readonly string[]> {
    return later(() => this.#inner.ids())
  }

  list(): Promise<readonly BoardEntry[]> {
    return later(() => this.#inner.list())
  }
}

/** Turns come in the order of the calls, so batches do too. */
async function later<T>(ask: () => Answer<T>): Promise<T> {
  await setImmediate()
  return ask()
}
