import {
  type JSONRPCErrorResponse,
  ProtocolErrorCode,
  type RequestId,
  specTypeSchemas,
} from '@modelcontextprotocol/server'
import { formatIssue, toSchemaIssue } from './format-issue.ts'
import { MAX_MESSAGE_BYTES } from './limits.ts'
import { cutLine, type TruncatedLine } from './message-line-reader.ts'

/** Limit of errors for one line. */
const MAX_ERRORS = 100
const ID = String.raw`(?<!\\)"id"\s*:\s*(-?\d+|"(?:[^"\\]|\\.)*")\s*`
/** Matches the id of a message before any nested value, or after it. */
const ID_AT_START = new RegExp(String.raw`^\s*\{[^{}[\]]*?${ID},`)
const ID_AT_END = new RegExp(String.raw`${ID}(?:,\s*"\w+"\s*:\s*"[^"\\]*"\s*)*\}\s*$`)
/** Matches a response before any nested value. */
const ANSWER_AT_START = /^\s*\{[^{}[\]]*?"(?:result|error)"\s*:/

/**
 * Creates responses to a malformed line, so that its sender does not wait forever: with its id, if one can be found.
 * JSON that is a response or a notification gets none.
 */
export function createErrorResponses(line: string): JSONRPCErrorResponse[] {
  let value: unknown
  try {
    value = JSON.parse(line)
  } catch (error) {
    const ends = cutLine(line)
    // The id of a response is ours: the client may use the same for another request.
    const id = isTruncatedResponse(ends) ? undefined : findId(ends)
    return [createErrorResponse(id, ProtocolErrorCode.ParseError, String(error))]
  }
  if (Array.isArray(value)) return createBatchErrors(value)
  const members = toMemberMap(value)
  if (members === undefined)
    return [createErrorResponse(undefined, ProtocolErrorCode.InvalidRequest, 'a message is an object')]
  return needsNoResponse(members) ? [] : [createInvalidRequestError(members)]
}

/** Creates the error for a line beyond the limit. */
export function createTruncatedError(line: TruncatedLine): JSONRPCErrorResponse {
  const limit = `${MAX_MESSAGE_BYTES / 1024 / 1024} MiB`
  return createErrorResponse(
    findId(line),
    ProtocolErrorCode.InvalidRequest,
    `a message is not longer than ${limit}`,
  )
}

/** True if a line that is too long or cannot be parsed is a response: then the client waits for nothing. */
export function isTruncatedResponse({ start }: TruncatedLine): boolean {
  return ANSWER_AT_START.test(start)
}

/** Converts a malformed response to a failed one, so that no request waits forever; undefined if it is none. */
export function toFailedResponse(line: string): JSONRPCErrorResponse | undefined {
  const members = toMemberMap(parseJson(line))
  const id = toRequestId(members?.get('id'))
  if (members === undefined || id === undefined || members.has('method') || !needsNoResponse(members))
    return undefined
  return createErrorResponse(id, ProtocolErrorCode.InvalidRequest, 'the response of the client is malformed')
}

/** Finds the id of a message that cannot be parsed. */
function findId({ start, end }: TruncatedLine): RequestId | undefined {
  const found = ID_AT_START.exec(start)?.[1] ?? ID_AT_END.exec(end)?.[1]
  return found === undefined ? undefined : toRequestId(parseJson(found))
}

function createBatchErrors(values: readonly unknown[]): JSONRPCErrorResponse[] {
  const requests = values
    .flatMap((value) => toMemberMap(value) ?? [])
    .filter((members) => !needsNoResponse(members))
  const ids = requests.flatMap((members) => toRequestId(members.get('id')) ?? [])
  const message = 'messages come one by one, each on a line of its own'
  const refusedIds = ids.length === 0 ? [undefined] : ids.slice(0, MAX_ERRORS)
  return refusedIds.map((id) => createErrorResponse(id, ProtocolErrorCode.InvalidRequest, message))
}

function createInvalidRequestError(members: ReadonlyMap<string, unknown>): JSONRPCErrorResponse {
  const checked = specTypeSchemas.JSONRPCRequest['~standard'].validate(Object.fromEntries(members))
  const [issue] = (checked.issues ?? []).map(toSchemaIssue)
  const isOfParams = issue?.path[0] === 'params'
  const code = isOfParams ? ProtocolErrorCode.InvalidParams : ProtocolErrorCode.InvalidRequest
  const message = issue === undefined ? 'the message is no request' : formatIssue(issue)
  return createErrorResponse(toRequestId(members.get('id')), code, message)
}

/** True for a notification (no id) or a response, which no one waits for. */
function needsNoResponse(members: ReadonlyMap<string, unknown>): boolean {
  if (members.has('method')) return typeof members.get('method') === 'string' && !members.has('id')
  return members.has('result') || members.has('error')
}

/** Parses JSON; undefined if it is invalid. */
function parseJson(text: string): unknown {
  try {
    return JSON.parse(text)
  } catch {
    return undefined
  }
}

function toMemberMap(value: unknown): ReadonlyMap<string, unknown> | undefined {
  const isObject = typeof value === 'object' && value !== null && !Array.isArray(value)
  return isObject ? new Map(Object.entries(value)) : undefined
}

function toRequestId(id: unknown): RequestId | undefined {
  return typeof id === 'string' || typeof id === 'number' ? id : undefined
}

function createErrorResponse(
  id: RequestId | undefined,
  code: ProtocolErrorCode,
  message: string,
): JSONRPCErrorResponse {
  return { jsonrpc: '2.0', ...(id !== undefined && { id }), error: { code, message } }
}
