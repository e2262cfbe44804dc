import type { ContextMessage } from '../context/index.ts'

/** Messages recorded by earlier lines: numbers `from` up to, but not including, `to`. */
interface MessageRange {
  readonly from: number
  readonly to: number
}

/** The messages of one line: new ones in full, recorded ones as ranges. */
export interface MessageLine {
  /** Number of the first new message; the others follow consecutively. */
  readonly first: number
  readonly parts: readonly (MessageRange | ContextMessage)[]
}

/** Limit of processes whose counts are cached. After an eviction, the next line repeats all messages. */
const MAX_COUNTS = 10_000
/** Separates the numbers of a process from those before its count was evicted. */
const NUMBERS_PER_STEP = 1_000_000

/** Numbers the messages of each process, so that a step can refer to messages of earlier steps. */
export class RecordedMessages {
  readonly #numbers = new WeakMap<ContextMessage, { readonly uuid: string; readonly number: number }>()
  readonly #counts = new Map<string, number>()

  /** Returns the line for these messages, and a function to call once the line is in the file. */
  createLine(
    uuid: string,
    step: number,
    messages: readonly ContextMessage[],
  ): { readonly line: MessageLine; readonly keep: () => void } {
    const known = this.#counts.get(uuid)
    const first = known ?? step * NUMBERS_PER_STEP
    const added: ContextMessage[] = []
    const parts: (MessageRange | ContextMessage)[] = []
    for (const message of messages) {
      const recorded = this.#numbers.get(message)
      const last = parts.at(-1)
      if (known === undefined || recorded?.uuid !== uuid) {
        added.push(message)
        parts.push(message)
      } else if (last !== undefined && 'from' in last && last.to === recorded.number)
        parts[parts.length - 1] = { from: last.from, to: recorded.number + 1 }
      else parts.push({ from: recorded.number, to: recorded.number + 1 })
    }
    const keep = () => {
      for (const [at, message] of added.entries()) this.#numbers.set(message, { uuid, number: first + at })
      this.#counts.delete(uuid)
      this.#counts.set(uuid, first + added.length)
      const [oldest] = this.#counts.keys()
      if (oldest !== undefined && this.#counts.size > MAX_COUNTS) this.#counts.delete(oldest)
    }
    return { line: { first, parts }, keep }
  }

  /** Makes the next line of a process repeat all messages, because the file may lack those of the last line. */
  forget(uuid: string): void {
    this.#counts.delete(uuid)
  }
}

/** Reassembles messages from the lines of one file, read in order. */
export class MessageReader {
  readonly #messages = new Map<number, ContextMessage>()

  /** Returns the messages of a line, without those of damaged lines. */
  read({ first, parts }: MessageLine): ContextMessage[] {
    let next = first
    return parts.flatMap((part) => {
      if ('from' in part) return this.#readRange(part)
      this.#messages.set(next++, part)
      return [part]
    })
  }

  #readRange({ from, to }: MessageRange): ContextMessage[] {
    return Array.from({ length: to - from }, (_, at) => this.#messages.get(from + at)).filter(
      (message) => message !== undefined,
    )
  }
}
