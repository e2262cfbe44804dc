import { VfsError } from '../../vfs/index.ts'

const PATH = '/dev/tty'
const DEFAULT_TIMEOUT_MS = 5 * 60 * 1000

/** A question of a process that waits for a person. */
export interface Question {
  readonly question: string
  /** Choices; empty for a free answer. */
  readonly options: readonly string[]
  /** True if several options may be chosen. */
  readonly multi_select: boolean
}

/** A free answer or the chosen option; a list if several may be chosen. */
export type PersonReply = string | readonly string[]

/** Questions that wait for an answer. */
export interface AskedQuestions {
  readonly id: string
  readonly pid: number
  readonly questions: readonly Question[]
}

/** A frontend that shows questions to a person. */
export interface Attachment {
  onAsked(questions: AskedQuestions): void
  /** Called once the questions are answered, cancelled or timed out. */
  onSettled?(id: string): void
}

/** Options of a `Tty`. */
export interface TtyOptions {
  readonly timeoutMs?: number
  /** Calls back once after a delay; returns a function that cancels it. */
  readonly after?: (ms: number, fire: () => void) => () => void
}

interface PendingQuestions {
  readonly asked: AskedQuestions
  readonly answer: (replies: readonly PersonReply[]) => void
}

/** The person at the terminal, as processes and the daemon see them. */
export class Tty {
  readonly #timeoutMs: number
  readonly #after: (ms: number, fire: () => void) => () => void
  readonly #attachments = new Set<Attachment>()
  readonly #pendingQuestions = new Map<string, PendingQuestions>()
  #lastId = 0

  constructor({ timeoutMs = DEFAULT_TIMEOUT_MS, after = startTimer }: TtyOptions = {}) {
    this.#timeoutMs = timeoutMs
    this.#after = after
  }

  /** Shows questions from now on, including pending ones; returns a function that detaches. */
  attach(attachment: Attachment): () => void {
    this.#attachments.add(attachment)
    for (const { asked } of this.#pendingQuestions.values()) attachment.onAsked(asked)
    return () => void this.#attachments.delete(attachment)
  }

  pending(): AskedQuestions[] {
    return [...this.#pendingQuestions.values()].map(({ asked }) => asked)
  }

  /** Asks questions and waits for one answer each, also if nobody is there yet. ETIMEDOUT if none comes. */
  async ask(
    pid: number,
    questions: readonly Question[],
    signal: AbortSignal,
  ): Promise<readonly PersonReply[]> {
    signal.throwIfAborted()
    const asked: AskedQuestions = { id: String(++this.#lastId), pid, questions }
    const { promise, resolve, reject } = Promise.withResolvers<readonly PersonReply[]>()
    const cancel = () => reject(signal.reason)
    const stopTimer = this.#after(this.#timeoutMs, () => reject(this.#createTimeoutError()))
    signal.addEventListener('abort', cancel, { once: true })
    this.#pendingQuestions.set(asked.id, { asked, answer: resolve })
    for (const attachment of this.#attachments) attachment.onAsked(asked)
    try {
      return await promise
    } finally {
      stopTimer()
      signal.removeEventListener('abort', cancel)
      this.#pendingQuestions.delete(asked.id)
      for (const attachment of this.#attachments) attachment.onSettled?.(asked.id)
    }
  }

  /** Answers questions. ENOENT if they are not pending; EINVAL for invalid answers, and they stay pending. */
  answer(id: string, replies: readonly PersonReply[]): void {
    const waiting = this.#pendingQuestions.get(id)
    if (waiting === undefined) {
      const detail = `no questions ${JSON.stringify(id)} wait for an answer`
      throw new VfsError('ENOENT', PATH, { op: 'answer', detail })
    }
    const { questions } = waiting.asked
    if (replies.length !== questions.length)
      throw createReplyError(`there are ${questions.length} questions but ${replies.length} answers`)
    for (const [index, question] of questions.entries()) assertReplyFits(question, replies[index] ?? '')
    this.#pendingQuestions.delete(id)
    waiting.answer(replies)
  }

  #createTimeoutError(): VfsError {
    const detail = `nobody answered within ${this.#timeoutMs / 1000} seconds; continue without an answer, or ask again later`
    return new VfsError('ETIMEDOUT', PATH, { op: 'write', detail })
  }
}

/** Checks an answer; a person may use free text in place of any option. */
function assertReplyFits({ question, multi_select }: Question, reply: PersonReply): void {
  const quoted = JSON.stringify(question)
  if (!multi_select && typeof reply !== 'string') throw createReplyError(`${quoted} takes one answer`)
  const given = typeof reply === 'string' ? [reply] : reply
  if (given.some((words) => words.trim() === '')) throw createReplyError(`${quoted} is not answered`)
}

function createReplyError(detail: string): VfsError {
  return new VfsError('EINVAL', PATH, { op: 'answer', detail })
}

function startTimer(ms: number, fire: () => void): () => void {
  const timer = setTimeout(fire, ms)
  return () => clearTimeout(timer)
}
