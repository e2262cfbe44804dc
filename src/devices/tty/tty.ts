import { VfsError } from '../../vfs/index.ts'

const PATH = '/dev/tty'
const FIVE_MINUTES_MS = 5 * 60 * 1000

export interface Question {
  readonly question: string
  /** None for an answer in the person's own words. */
  readonly options: readonly string[]
  /** Whether several options may be chosen. */
  readonly multi_select: boolean
}

/** The words of an answer, or of each option that was chosen. */
export type Reply = string | readonly string[]

/** Questions that wait for an answer. */
export interface AskedQuestions {
  readonly id: string
  readonly pid: number
  readonly questions: readonly Question[]
}

/** Somebody who shows questions to a person. */
export interface Attachment {
  asked(questions: AskedQuestions): void
  /** They need no answer any more, whatever way that came. */
  settled?(id: string): void
}

export interface TtyOptions {
  readonly timeoutMs?: number
  /** Calls back once after a time; returns how to stop that. */
  readonly after?: (ms: number, fire: () => void) => () => void
}

interface Waiting {
  readonly asked: AskedQuestions
  readonly answer: (replies: readonly Reply[]) => void
}

/** The person at the other end, as processes and the daemon see them. */
export class Tty {
  readonly #timeoutMs: number
  readonly #after: (ms: number, fire: () => void) => () => void
  readonly #attached = new Set<Attachment>()
  readonly #waiting = new Map<string, Waiting>()
  #last = 0

  constructor({ timeoutMs = FIVE_MINUTES_MS, after = afterTimeout }: TtyOptions = {}) {
    this.#timeoutMs = timeoutMs
    this.#after = after
  }

  /** Shows questions from now on, and those that wait already; returns how to stop. */
  attach(attachment: Attachment): () => void {
    this.#attached.add(attachment)
    for (const { asked } of this.#waiting.values()) attachment.asked(asked)
    return () => void this.#attached.delete(attachment)
  }

  pending(): AskedQuestions[] {
    return [...this.#waiting.values()].map(({ asked }) => asked)
  }

  /** Waits for the answers, one for each question. EUNAVAILABLE if nobody is attached, ETIMEDOUT. */
  async ask(pid: number, questions: readonly Question[], signal: AbortSignal): Promise<readonly Reply[]> {
    signal.throwIfAborted()
    if (this.#attached.size === 0) throw nobody()
    const asked: AskedQuestions = { id: String(++this.#last), pid, questions }
    const { promise, resolve, reject } = Promise.withResolvers<readonly Reply[]>()
    const cancel = () => reject(signal.reason)
    const stopTimer = this.#after(this.#timeoutMs, () => reject(this.#timedOut()))
    signal.addEventListener('abort', cancel, { once: true })
    this.#waiting.set(asked.id, { asked, answer: resolve })
    for (const attachment of this.#attached) attachment.asked(asked)
    try {
      return await promise
    } finally {
      stopTimer()
      signal.removeEventListener('abort', cancel)
      this.#waiting.delete(asked.id)
      for (const attachment of this.#attached) attachment.settled?.(asked.id)
    }
  }

  /** Answers questions. ENOENT if they do not wait, EINVAL for answers that do not fit; then they wait on. */
  answer(id: string, replies: readonly Reply[]): void {
    const waiting = this.#waiting.get(id)
    if (waiting === undefined) {
      const detail = `no questions ${JSON.stringify(id)} wait for an answer`
      throw new VfsError('ENOENT', PATH, { op: 'answer', detail })
    }
    const { questions } = waiting.asked
    if (replies.length !== questions.length)
      throw misfit(`there are ${questions.length} questions, and ${replies.length} answers`)
    for (const [at, question] of questions.entries()) assertFits(question, replies[at] ?? '')
    this.#waiting.delete(id)
    waiting.answer(replies)
  }

  #timedOut(): VfsError {
    const detail = `nobody answered within ${this.#timeoutMs / 1000} seconds; go on without, or ask again later`
    return new VfsError('ETIMEDOUT', PATH, { op: 'write', detail })
  }
}

/** A person may answer in words of their own in place of any option. */
function assertFits({ question, multi_select }: Question, reply: Reply): void {
  const told = JSON.stringify(question)
  if (!multi_select && typeof reply !== 'string') throw misfit(`${told} takes one answer`)
  const given = typeof reply === 'string' ? [reply] : reply
  if (given.some((words) => words.trim() === '')) throw misfit(`${told} is not answered`)
}

function misfit(detail: string): VfsError {
  return new VfsError('EINVAL', PATH, { op: 'answer', detail })
}

function nobody(): VfsError {
  const detail = 'nobody is at a terminal to answer; decide yourself, or note the question for later'
  return new VfsError('EUNAVAILABLE', PATH, { op: 'write', detail })
}

function afterTimeout(ms: number, fire: () => void): () => void {
  const timer = setTimeout(fire, ms)
  return () => clearTimeout(timer)
}
