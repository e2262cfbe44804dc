import type { RunOptions } from '../server/boundary/index.ts'

type Pass = NonNullable<RunOptions['onOutput']>
type Stream = Parameters<Pass>[0]

const LINE_END = 0x0a
const LINE_ENDING = Buffer.of(LINE_END)
/** Nobody reads a longer line, and somebody has to hold it until its end: it is handed on as several. */
const LONGEST_LINE_BYTES = 2 ** 20

/** The beginning of a line whose end has not come yet. */
interface Rest {
  chunks: Uint8Array[]
  bytes: number
}

/** Hands on what a lane writes, line by line and whatever the bytes, with its number before each. */
export class LaneOutput {
  readonly #pass: Pass
  readonly #prefix: Uint8Array
  readonly #rests: Record<Stream, Rest> = { stdout: nothing(), stderr: nothing() }

  constructor(pass: Pass, lane: number) {
    this.#pass = pass
    this.#prefix = Buffer.from(`[${lane}] `)
  }

  /** What it returns is for the whole of it: fulfilled when all is handed on. */
  take(stream: Stream, chunk: Uint8Array): unknown {
    const parts: Uint8Array[] = []
    let from = 0
    for (let at = chunk.indexOf(LINE_END); at !== -1; at = chunk.indexOf(LINE_END, from)) {
      parts.push(...this.#line(stream, chunk.subarray(from, at)))
      from = at + 1
    }
    parts.push(...this.#begun(stream, chunk.subarray(from)))
    return parts.length === 0 ? undefined : this.#pass(stream, Buffer.concat(parts))
  }

  /** Hands on what came without an end of line. */
  async end(): Promise<void> {
    for (const stream of ['stdout', 'stderr'] as const) {
      if (this.#rests[stream].bytes > 0)
        await this.#pass(stream, Buffer.concat(this.#line(stream, new Uint8Array())))
    }
  }

  #line(stream: Stream, last: Uint8Array): Uint8Array[] {
    const { chunks } = this.#rests[stream]
    this.#rests[stream] = nothing()
    return [this.#prefix, ...chunks, last, LINE_ENDING]
  }

  #begun(stream: Stream, bytes: Uint8Array): Uint8Array[] {
    const rest = this.#rests[stream]
    if (rest.bytes + bytes.length > LONGEST_LINE_BYTES) return this.#line(stream, bytes)
    if (bytes.length > 0) rest.chunks.push(bytes)
    rest.bytes += bytes.length
    return []
  }
}

function nothing(): Rest {
  return { chunks: [], bytes: 0 }
}
