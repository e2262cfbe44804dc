import type { Listener, ObjectAnswer } from './answer-parser.ts'

/** Names that are asked about together, and the answers in the same order; undefined where there is no such object. */
abstract class Questions<Answer> implements Listener {
  abstract readonly wants: Listener['wants']
  /** Ids, or what Git reads as revisions, a character for each byte. None has a newline. */
  readonly names: readonly string[]
  readonly answers: Promise<(Answer | undefined)[]>
  readonly #found: (Answer | undefined)[] = []
  readonly #resolve: (answers: (Answer | undefined)[]) => void
  readonly fail: (error: unknown) => void

  constructor(names: readonly string[]) {
    this.names = names
    const { promise, resolve, reject } = Promise.withResolvers<(Answer | undefined)[]>()
    this.answers = promise
    this.#resolve = resolve
    this.fail = reject
  }

  get isAnswered(): boolean {
    return this.#found.length === this.names.length
  }

  size(_bytes: number): void {}

  object(_answer: ObjectAnswer): void {}

  problem(_word: string): void {
    this.take(undefined)
  }

  protected take(answer: Answer | undefined): void {
    if (this.#found.push(answer) === this.names.length) this.#resolve(this.#found)
  }
}

export type AnyQuestions = Questions<number> | Questions<ObjectAnswer>

/** How large objects are. */
export class SizeQuestions extends Questions<number> {
  readonly wants = 'size'

  override size(bytes: number): void {
    this.take(bytes)
  }
}

/** Objects, with their bytes or without. */
export class ObjectQuestions extends Questions<ObjectAnswer> {
  readonly wants: 'info' | 'contents'

  constructor(wants: 'info' | 'contents', names: readonly string[]) {
    super(names)
    this.wants = wants
  }

  override object(answer: ObjectAnswer): void {
    this.take(answer)
  }
}
