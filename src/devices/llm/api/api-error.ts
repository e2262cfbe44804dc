import { BusyError } from '../../../kernel/index.ts'
import { type ErrorCode, isVfsError, VfsError } from '../../../vfs/index.ts'

/** Longer messages are cut: some providers respond with whole pages. */
const MAX_MESSAGE_CHARACTERS = 500

const MALFORMED_NAME = /^AI_(?:JSONParse|TypeValidation)Error$/
const MALFORMED_BODY = /^\{"name":"AI_(?:JSONParse|TypeValidation)Error"/

/** Shape of a failed request, whichever SDK package threw it. */
interface ApiFailure {
  readonly status: number | undefined
  readonly message: string
  /** Time that the provider asks to wait for. */
  readonly retryAfterMs?: number | undefined
  /** True if the stream is not what the provider's API sends. */
  readonly isMalformed?: boolean
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
  405: { code: 'EIO', advice: 'the address accepts no such request; check the base URL' },
  408: { code: 'ETIMEDOUT', advice: 'the provider took too long' },
  413: { code: 'EFBIG', advice: 'the conversation is too long for the model' },
  422: { code: 'EINVAL', advice: 'the request was refused' },
  429: { code: 'EUNAVAILABLE', advice: 'too many requests, or the quota is used up; try again later' },
}

/** Statuses of errors that providers report inside a stream, by their type or code. */
const statusesByType: Readonly<Record<string, number>> = {
  invalid_request_error: 400,
  context_length_exceeded: 400,
  authentication_error: 401,
  permission_error: 403,
  not_found_error: 404,
  request_too_large: 413,
  rate_limit_error: 429,
  rate_limit_exceeded: 429,
  insufficient_quota: 429,
  api_error: 500,
  server_error: 500,
  overloaded_error: 529,
}

const malformedStream: StatusMeaning = {
  code: 'EIO',
  advice: "the provider sent a malformed stream; check that the base URL is one of this provider's API",
}

/** Converts an SDK error to one that says what failed and what to do. A VfsError stays as it is. */
export function toApiError(path: string, error: unknown): VfsError {
  if (isVfsError(error)) return error
  const { status, message, retryAfterMs, isMalformed } = parseFailure(error)
  const { code, advice } = isMalformed ? malformedStream : interpretStatus(status)
  const shortMessage = message.slice(0, MAX_MESSAGE_CHARACTERS)
  const detail =
    status === undefined || isMalformed
      ? `${advice}: ${shortMessage}`
      : `${advice} (HTTP ${status}): ${shortMessage}`
  const details = { op: 'write', detail, cause: error }
  return code === 'EUNAVAILABLE' && retryAfterMs !== undefined
    ? new BusyError(path, retryAfterMs, details)
    : new VfsError(code, path, details)
}

/** Returns the meaning of an HTTP status; undefined means that no response came. */
export function interpretStatus(status: number | undefined): StatusMeaning {
  if (status === undefined) return { code: 'EUNAVAILABLE', advice: 'the provider cannot be reached' }
  if (status < 300) return { code: 'EUNAVAILABLE', advice: 'the answer broke off' }
  if (status >= 500) return { code: 'EUNAVAILABLE', advice: 'the provider failed; try again later' }
  return statusMeanings[status] ?? { code: 'EIO', advice: 'the provider sent an unexpected response' }
}

/** Formats the reason of a failure: the provider's own words. */
export function formatReason(error: unknown): string {
  return parseFailure(error).message.slice(0, MAX_MESSAGE_CHARACTERS)
}

/**
 * Reads the facts of a failed request; of several attempts, those of the last. Matches by shape: the error classes are
 * in packages that may not be loaded.
 */
function parseFailure(error: unknown): ApiFailure {
  if (typeof error !== 'object' || error === null) return { status: undefined, message: String(error) }
  if ('lastError' in error && error.lastError !== undefined) return parseFailure(error.lastError)
  const { responseHeaders, responseBody } = toFields(error)
  return {
    status: findStatus(error),
    message: findMessage(error) || 'no reason given',
    retryAfterMs: parseRetryAfter(responseHeaders) ?? parseRetryDelay(responseBody),
    isMalformed: isMalformedStream(error),
  }
}

function findMessage(error: object): string {
  // A connection that breaks after a success is explained by its causes only.
  const { statusCode } = toFields(error)
  if (error instanceof Error && statusCode === 200) return findRootCause(error).message
  const message = 'message' in error ? String(error.message) : JSON.stringify(error)
  // The SDK adds a list of all shapes that the stream could have had.
  return isMalformedStream(error) ? message.split('\n', 1).join() : message
}

function findRootCause(error: Error): Error {
  return error.cause instanceof Error ? findRootCause(error.cause) : error
}

function findStatus(error: object): number | undefined {
  const { statusCode, code, type, name } = toFields(error)
  if (typeof statusCode === 'number') return statusCode
  // The SDK throws this when a stream ends without its last event.
  if (name === 'AI_InvalidResponseDataError') return 200
  // Anything else that is thrown failed before the response.
  if (error instanceof Error) return undefined
  if (typeof code === 'number') return code
  return statusesByType[String(code)] ?? statusesByType[String(type)] ?? 500
}

/** True if the SDK could not parse the stream. Anthropic's package hides such an error in the body of another. */
function isMalformedStream(error: object): boolean {
  const { name, responseBody } = toFields(error)
  return MALFORMED_NAME.test(String(name)) || MALFORMED_BODY.test(String(responseBody))
}

function toFields(error: object): Readonly<Record<string, unknown>> {
  return { ...error }
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

/** Reads the delay that Google puts into the body: `"retryDelay": "34s"`. */
function parseRetryDelay(body: unknown): number | undefined {
  const [, seconds] = /"retryDelay":\s*"([\d.]+)s"/.exec(String(body)) ?? []
  return seconds === undefined ? undefined : Number(seconds) * 1000
}
