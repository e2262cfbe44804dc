import { BusyError } from '../../../kernel/index.ts'
import { type ErrorCode, isVfsError, VfsError } from '../../../vfs/index.ts'

/** Longer messages are cut: some providers respond with whole pages. */
const MAX_MESSAGE_CHARACTERS = 500

/** Shape of a failed request, whichever SDK package threw it. */
interface ApiFailure {
  readonly status: number | undefined
  readonly message: string
  /** Time that the provider asks to wait for. */
  readonly retryAfterMs?: number | undefined
}

interface StatusMeaning {
  readonly code: ErrorCode
  readonly advice: string
}

const statusMeanings: Readonly<Record<number, StatusMeaning>> = {
  400: { code: 'EINVAL', advice: 'the request was refused' },
  401: { code: 'EACCES', advice: 'the API key was refused; set a valid one' },
  402: { code: 'EACCES', advice: 'the account has no credit left' },
  403: { code: 'EACCES', advice: 'the API key does not allow this' },
  404: {
    code: 'ENOENT',
    advice: 'there is no such model or address; check the model name and the base URL',
  },
  408: { code: 'ETIMEDOUT', advice: 'the provider took too long' },
  413: { code: 'EFBIG', advice: 'the conversation is too long for the model' },
  422: { code: 'EINVAL', advice: 'the request was refused' },
  429: { code: 'EUNAVAILABLE', advice: 'too many requests, or the quota is used up; try again later' },
}

/** Converts an SDK error: what failed, and what to do. */
export function toApiError(path: string, error: unknown): VfsError {
  if (isVfsError(error)) return error
  const { status, message, retryAfterMs } = parseFailure(error)
  const { code, advice } = interpretStatus(status)
  const shortMessage = message.slice(0, MAX_MESSAGE_CHARACTERS)
  const detail =
    status === undefined ? `${advice}: ${shortMessage}` : `${advice} (HTTP ${status}): ${shortMessage}`
  const details = { op: 'write', detail, cause: error }
  return code === 'EUNAVAILABLE' && retryAfterMs !== undefined
    ? new BusyError(path, retryAfterMs, details)
    : new VfsError(code, path, details)
}

function interpretStatus(status: number | undefined): StatusMeaning {
  if (status === undefined) return { code: 'EUNAVAILABLE', advice: 'the provider cannot be reached' }
  if (status < 300) return { code: 'EUNAVAILABLE', advice: 'the answer broke off' }
  if (status >= 500) return { code: 'EUNAVAILABLE', advice: 'the provider failed; try again later' }
  return statusMeanings[status] ?? { code: 'EIO', advice: 'the provider sent an unexpected response' }
}

/** Reads the last attempt, which explains most. Matches by shape: the error classes are in packages loaded late. */
function parseFailure(error: unknown): ApiFailure {
  if (typeof error !== 'object' || error === null) return { status: undefined, message: String(error) }
  if ('lastError' in error && error.lastError !== undefined) return parseFailure(error.lastError)
  const message = 'message' in error ? String(error.message) : JSON.stringify(error)
  const status = 'statusCode' in error && typeof error.statusCode === 'number' ? error.statusCode : undefined
  const headers = 'responseHeaders' in error ? error.responseHeaders : undefined
  return { status, message: message || 'no reason given', retryAfterMs: parseRetryAfter(headers) }
}

/** Reads `retry-after`: seconds or a date. Anthropic and OpenAI also send `retry-after-ms`. */
function parseRetryAfter(headers: unknown): number | undefined {
  if (typeof headers !== 'object' || headers === null) return undefined
  const values = new Map<string, unknown>(Object.entries(headers))
  const [ms, after] = [values.get('retry-after-ms'), values.get('retry-after')]
  const delay =
    ms !== undefined
      ? Number(ms)
      : /^[\d.]+$/.test(String(after))
        ? Number(after) * 1000
        : Date.parse(String(after)) - Date.now()
  return Number.isFinite(delay) ? Math.max(0, delay) : undefined
}
