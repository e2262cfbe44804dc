import { once } from 'node:events'
import type { Terminal } from './terminal.ts'

/** Lines are buffered up to this size, since each write to a pipe is a system call. */
const MAX_BUFFERED_CHARACTERS = 64 * 1024

/**
 * The output of a command: text for people, or with `--json` one JSON value, for a stream one a line. A list becomes an
 * array with one element a line, written as elements arrive. Waits for a slow reader instead of buffering without
 * limit.
 */
export class Output {
  readonly isJson: boolean
  readonly #terminal: Terminal
  #buffer = ''

  constructor(terminal: Terminal, isJson: boolean) {
    this.#terminal = terminal
    this.isJson = isJson
  }

  /** Writes one value as JSON, or its text. */
  async writeValue(value: unknown, text?: string): Promise<void> {
    if (this.isJson) await this.writeLine(JSON.stringify(value, null, 2))
    else if (text !== undefined && text !== '') await this.writeLine(text)
  }

  /** Writes a JSON array, or a line per item. Returns the number of items. */
  async writeList<Item>(
    items: Iterable<Item> | AsyncIterable<Item>,
    text: (item: Item) => string,
    json: (item: Item) => unknown = (item) => item,
  ): Promise<number> {
    let count = 0
    if (this.isJson) await this.#append('[')
    for await (const item of items) {
      if (this.isJson) await this.#append(`${count === 0 ? '\n' : ',\n'}${JSON.stringify(json(item))}`)
      else await this.writeLine(text(item))
      count++
    }
    if (this.isJson) await this.#append(count === 0 ? ']\n' : '\n]\n')
    return count
  }

  /** Writes a stream, which may be endless, as one JSON value or text a line. `isLive` flushes each. */
  async writeStream<Item>(
    items: AsyncIterable<Item>,
    text: (item: Item) => string,
    { isLive = false }: { readonly isLive?: boolean } = {},
  ): Promise<void> {
    for await (const item of items) {
      await this.writeLine(this.isJson ? JSON.stringify(item) : text(item))
      if (isLive) await this.flush()
    }
  }

  async writeLine(text: string): Promise<void> {
    await this.#append(`${text}\n`)
  }

  /** Writes text without a line end. */
  async writeText(text: string): Promise<void> {
    await this.#append(text)
  }

  /** Writes raw bytes. Returns their number. */
  async writeBytes(chunks: AsyncIterable<Uint8Array>): Promise<number> {
    await this.flush()
    let size = 0
    for await (const chunk of chunks) {
      await this.#write(chunk)
      size += chunk.length
    }
    return size
  }

  /** Writes the buffer out. */
  async flush(): Promise<void> {
    if (this.#buffer === '') return
    const text = this.#buffer
    this.#buffer = ''
    await this.#write(text)
  }

  async #append(text: string): Promise<void> {
    this.#buffer += text
    if (this.#terminal.isInteractive || this.#buffer.length >= MAX_BUFFERED_CHARACTERS) await this.flush()
  }

  async #write(chunk: string | Uint8Array): Promise<void> {
    const { out, signal } = this.#terminal
    if (!out.write(chunk)) await once(out, 'drain', { signal })
  }
}
