const NEWLINE = 10
const SPACE = 32
const [ZERO, NINE] = [48, 57]
const MAX_LINE_BYTES = 4096
const EMPTY_BUFFER = Buffer.alloc(0)

/** An object in the output of `git cat-file`. */
export interface ObjectResponse {
  readonly id: string
  readonly type: string
  /** Empty if only its type was requested. */
  readonly bytes: Buffer
}

/** Receiver of a response: a size, a line about an object, or an object with its content. */
export interface ResponseListener {
  readonly wants: 'size' | 'info' | 'contents'
  size(bytes: number): void
  object(answer: ObjectResponse): void
  /** Reports a problem in Git's words: `missing`, `ambiguous`. */
  problem(word: string): void
}

/**
 * Splits the output of `git cat-file` into responses, each for the current `listener`. Bytes that arrive in one
 * chunk are a view of that chunk.
 */
export class ResponseParser {
  readonly #listener: () => ResponseListener
  /** Start of an incomplete line. */
  #line: Buffer = EMPTY_BUFFER
  #content: (ObjectResponse & { filled: number }) | undefined

  constructor(listener: () => ResponseListener) {
    this.#listener = listener
  }

  /** Parses a chunk of output. Throws on anything that `git cat-file` does not print. */
  push(chunk: Buffer): void {
    for (let offset = 0; offset < chunk.length; )
      offset =
        this.#content === undefined
          ? this.#parseLine(chunk, offset)
          : this.#readContent(chunk, offset, this.#content)
  }

  /** Returns the offset of the next line, or of content. */
  #parseLine(chunk: Buffer, offset: number): number {
    const end = chunk.indexOf(NEWLINE, offset)
    if (end === -1) {
      this.#line = Buffer.concat([this.#line, chunk.subarray(offset)])
      if (this.#line.length > MAX_LINE_BYTES) throw new Error('unexpected output of git cat-file')
      return chunk.length
    }
    const listener = this.#listener()
    if (this.#line.length > 0) {
      const line = Buffer.concat([this.#line, chunk.subarray(offset, end)])
      this.#line = EMPTY_BUFFER
      return this.#dispatchLine(listener, line, 0, line.length, chunk, end + 1)
    }
    return this.#dispatchLine(listener, chunk, offset, end, chunk, end + 1)
  }

  #dispatchLine(
    listener: ResponseListener,
    line: Buffer,
    start: number,
    end: number,
    chunk: Buffer,
    next: number,
  ): number {
    const size = parseTrailingSize(line, start, end)
    if (size === undefined) {
      const text = line.toString('latin1', start, end)
      listener.problem(text.slice(text.lastIndexOf(' ') + 1))
      return next
    }
    if (listener.wants === 'size') {
      listener.size(size)
      return next
    }
    const [id = '', type = ''] = line.toString('latin1', start, end).split(' ')
    if (listener.wants === 'info') listener.object({ id, type, bytes: EMPTY_BUFFER })
    else if (next + size < chunk.length) {
      listener.object({ id, type, bytes: chunk.subarray(next, next + size) })
      return next + size + 1
    } else this.#content = { id, type, bytes: Buffer.allocUnsafeSlow(size), filled: 0 }
    return next
  }

  /** Reads content, which ends with an extra newline. */
  #readContent(chunk: Buffer, offset: number, content: ObjectResponse & { filled: number }): number {
    const copied = chunk.copy(content.bytes, content.filled, offset)
    content.filled += copied
    if (offset + copied === chunk.length) return chunk.length
    this.#content = undefined
    this.#listener().object(content)
    return offset + copied + 1
  }
}

/** Parses the number after the last space of a line, or returns undefined. Makes no string, as there are very many. */
function parseTrailingSize(line: Buffer, start: number, end: number): number | undefined {
  let size = 0
  let unit = 1
  for (let offset = end - 1; offset >= start; offset--) {
    const byte = line[offset] ?? 0
    if (byte === SPACE && unit > 1) return size
    if (byte < ZERO || byte > NINE) return undefined
    size += (byte - ZERO) * unit
    unit *= 10
  }
  return undefined
}
