import { randomBytes } from 'node:crypto'
import { BearerToken } from '../../http/index.ts'

const CODE_BYTES = 32
const LIFETIME_MS = 60_000
/** Codes that wait at most; the oldest dies. */
const MAX_CODES = 8
/** Wrong codes after which all that wait die. */
const MAX_WRONG = 10

interface WaitingCode {
  readonly code: BearerToken
  readonly diesAt: number
}

/**
 * Codes that open one session each. A code dies after one use or a minute. Too many wrong ones kill all that wait, so
 * that nobody can try them in turn.
 */
export class OneTimeCodes {
  readonly #now: () => number
  #waiting: WaitingCode[] = []
  #wrong = 0

  /** @param now returns the time in milliseconds; a clock that is never set back when absent. */
  constructor(now: () => number = () => performance.now()) {
    this.#now = now
  }

  create(): string {
    const code = randomBytes(CODE_BYTES).toString('base64url')
    this.#waiting = [...this.#listAlive(), { code: new BearerToken(code), diesAt: this.#now() + LIFETIME_MS }]
    this.#waiting = this.#waiting.slice(-MAX_CODES)
    this.#wrong = 0
    return code
  }

  /** Uses a code up. Returns false for one that is wrong, used or too old. */
  use(code: string): boolean {
    const alive = this.#listAlive()
    // All are compared, so that the time does not depend on which one matches.
    const [found] = alive.filter((waiting) => waiting.code.equals(code))
    this.#waiting = alive.filter((waiting) => waiting !== found)
    if (found !== undefined) return true
    if (++this.#wrong >= MAX_WRONG) this.#waiting = []
    return false
  }

  #listAlive(): WaitingCode[] {
    const now = this.#now()
    return this.#waiting.filter(({ diesAt }) => diesAt > now)
  }
}
