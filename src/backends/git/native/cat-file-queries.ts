import type { ObjectResponse, ResponseListener } from './response-parser.ts'

/** Names that are asked about together, and the answers in the same order; undefined where there is no such object. */
abstract class CatFileQuery<Answer> implements ResponseListener {
  abstract readonly wants: ResponseListener['wants']
  /** Ids, or what Git reads as revisions, a character for each byte. None has a newline. */
  readonly names: readonly string[]
  readonly answers: Promise<(Answer | undefined)[]>
  readonly #responses: (Answer | undefined)[] = []
  readonly #resolve: (answers: (Answer | undefined)[]) => void
  readonly fail: (error: unknown) => void

  constructor(names: readonly string[]) {
    this.names = names
    const { promise, resolve, reject } = Promise.withResolvers<(Answer | undefined)[]>()
    this.answers = promise
    this.#resolve = resolve
    this.fail = reject
  }

  get isComplete(): boolean {
    return this.#responses.length === this.names.length
  }

  size(_bytes: number): void {}

  object(_answer: ObjectResponse): void {}

  problem(_word: string): void {
    this.resolveNext(undefined)
  }

  protected resolveNext(answer: Answer | undefined): void {
    if (this.#responses.push(answer) === this.names.length) this.#resolve(this.#responses)
  }
}

export type AnyCatFileQuery = CatFileQuery<number> | CatFileQuery<ObjectResponse>

/** How large objects are. */
export class SizeQuery extends CatFileQuery<number> {
  readonly wants = 'size'

  override size(bytes: number): void {
    this.resolveNext(bytes)
  }
}

/** Objects, with their bytes or without. */
export class ObjectQuery extends CatFileQuery<ObjectResponse> {
  readonly wants: 'info' | 'contents'

  constructor(wants: 'info' | 'contents', names: readonly string[]) {
    super(names)
    this.wants = wants
  }

  override object(answer: ObjectResponse): void {
    this.resolveNext(answer)
  }
}
