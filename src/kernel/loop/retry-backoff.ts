import { isVfsError, VfsError } from '../../vfs/index.ts'

const FIRST_DELAY_MS = 1000
const MAX_DELAY_MS = 60_000

/** A device that is busy, and the time after which it may be asked again. */
export class BusyError extends VfsError {
  readonly retryAfterMs: number

  constructor(path: string, retryAfterMs: number, details: ConstructorParameters<typeof VfsError>[2]) {
    super('EUNAVAILABLE', path, details)
    this.retryAfterMs = retryAfterMs
  }
}

/** A model that cannot be started here. Repeating the request does not help, but another model may answer it. */
export class ModelStartError extends VfsError {}

/** True for a failure that may be over when the request is repeated. */
export function isTemporary(error: unknown): boolean {
  return isVfsError(error, 'EUNAVAILABLE') || isVfsError(error, 'ETIMEDOUT')
}

/** True for a failure after which another model may answer. */
export function canFallBack(error: unknown): boolean {
  return isTemporary(error) || error instanceof ModelStartError
}

/** Delays between attempts of one request: each is twice the last, up to a minute, unless the device names its own. */
export class RetryBackoff {
  readonly #limitMs: number
  readonly #startedAt = performance.now()
  #attempts = 0

  constructor(limitMs: number) {
    this.#limitMs = limitMs
  }

  /** Returns the delay before the next attempt; undefined if the time for attempts would be over by then. */
  nextDelay(error: unknown): number | undefined {
    const delay = error instanceof BusyError ? error.retryAfterMs : this.#doubleDelay()
    return performance.now() - this.#startedAt + delay > this.#limitMs ? undefined : delay
  }

  /** Returns twice the last delay, varied by a quarter: processes that failed together do not return together. */
  #doubleDelay(): number {
    const delay = Math.min(FIRST_DELAY_MS * 2 ** this.#attempts++, MAX_DELAY_MS)
    return delay * (0.75 + Math.random() / 2)
  }
}
