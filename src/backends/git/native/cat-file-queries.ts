import type { ObjectResponse, ResponseListener } from './response-parser.ts'

/** A batch of names, with the results in the same order; undefined for an object that does not exist. */
abstract class CatFileQuery<Answer> implements ResponseListener {
  abstract readonly wants: ResponseListener['wants']
  /** Ids or revisions, one character for each byte, without newlines. */
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

/** Queries the sizes of objects. */
export class SizeQuery extends CatFileQuery<number> {
  readonly wants = 'size'

  override size(bytes: number): void {
    this.resolveNext(bytes)
  }
}

/** Queries objects, with or without their bytes. */
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
