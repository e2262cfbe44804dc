import type { BoundaryRunOptions } from '../../../boundary/index.ts'

type OutputSink = NonNullable<BoundaryRunOptions['onOutput']>
type Stream = Parameters<OutputSink>[0]

const NEWLINE = 0x0a
const NEWLINE_BYTES = Buffer.of(NEWLINE)
/** Longest line to buffer; a longer one is split. */
const MAX_LINE_BYTES = 2 ** 20

/** The beginning of an incomplete line. */
interface PartialLine {
  chunks: Uint8Array[]
  bytes: number
}

/** Forwards the output of a lane line by line, with its number before each. */
export class PrefixedOutput {
  readonly #forward: OutputSink
  readonly #prefix: Uint8Array
  readonly #partialLines: Record<Stream, PartialLine> = {
    stdout: createPartialLine(),
    stderr: createPartialLine(),
  }

  constructor(forward: OutputSink, lane: number) {
    this.#forward = forward
    this.#prefix = Buffer.from(`[${lane}] `)
  }

  /** Forwards the lines that a chunk completes. Returns the result of the sink, or undefined if there are none. */
  write(stream: Stream, chunk: Uint8Array): unknown {
    const parts: Uint8Array[] = []
    let from = 0
    for (let end = chunk.indexOf(NEWLINE); end !== -1; end = chunk.indexOf(NEWLINE, from)) {
      parts.push(...this.#completeLine(stream, chunk.subarray(from, end)))
      from = end + 1
    }
    parts.push(...this.#bufferPartialLine(stream, chunk.subarray(from)))
    return parts.length === 0 ? undefined : this.#forward(stream, Buffer.concat(parts))
  }

  /** Forwards the last line without an end. */
  async end(): Promise<void> {
    for (const stream of ['stdout', 'stderr'] as const) {
      if (this.#partialLines[stream].bytes > 0)
        await this.#forward(stream, Buffer.concat(this.#completeLine(stream, new Uint8Array())))
    }
  }

  #completeLine(stream: Stream, last: Uint8Array): Uint8Array[] {
    const { chunks } = this.#partialLines[stream]
    this.#partialLines[stream] = createPartialLine()
    return [this.#prefix, ...chunks, last, NEWLINE_BYTES]
  }

  #bufferPartialLine(stream: Stream, bytes: Uint8Array): Uint8Array[] {
    const rest = this.#partialLines[stream]
    if (rest.bytes + bytes.length > MAX_LINE_BYTES) return this.#completeLine(stream, bytes)
    if (bytes.length > 0) rest.chunks.push(bytes)
    rest.bytes += bytes.length
    return []
  }
}

function createPartialLine(): PartialLine {
  return { chunks: [], bytes: 0 }
}
