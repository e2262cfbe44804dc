import {
  ErrorCode,
  type JSONRPCErrorResponse,
  JSONRPCRequestSchema,
  type RequestId,
} from '@modelcontextprotocol/sdk/types.js'
import { formatIssue } from './format-issue.ts'
import { MAX_MESSAGE_BYTES } from './limits.ts'
import { cutLine, type TruncatedLine } from './message-line-reader.ts'

/** Of more requests in one line, nobody can be waiting. */
const MAX_ERRORS = 100
const ID = String.raw`(?<!\\)"id"\s*:\s*(-?\d+|"(?:[^"\\]|\\.)*")\s*`
/** The id of a message, before anything in it that is not flat, or behind it. */
const ID_AT_START = new RegExp(String.raw`^\s*\{[^{}[\]]*?${ID},`)
const ID_AT_END = new RegExp(String.raw`${ID}(?:,\s*"\w+"\s*:\s*"[^"\\]*"\s*)*\}\s*$`)
/** What came of something, before anything that is not flat. */
const ANSWER_AT_START = /^\s*\{[^{}[\]]*?"(?:result|error)"\s*:/

/**
 * What is answered to a line that is no message, so that whoever sent it does not wait for ever: with the id it has, if
 * one can be found. What answers us, or only tells us something, is not answered.
 */
export function createErrorResponses(line: string): JSONRPCErrorResponse[] {
  let value: unknown
  try {
    value = JSON.parse(line)
  } catch (error) {
    const ends = cutLine(line)
    // The id of an answer is one of ours: the client may wait for something else by the same.
    const id = isTruncatedResponse(ends) ? undefined : findId(ends)
    return [createErrorResponse(id, ErrorCode.ParseError, String(error))]
  }
  if (Array.isArray(value)) return createBatchErrors(value)
  const members = toMemberMap(value)
  if (members === undefined)
    return [createErrorResponse(undefined, ErrorCode.InvalidRequest, 'a message is an object')]
  return needsNoResponse(members) ? [] : [createInvalidRequestError(members)]
}

/** The same for a line that was too long to be kept. */
export function createTruncatedError(line: TruncatedLine): JSONRPCErrorResponse {
  const limit = `${MAX_MESSAGE_BYTES / 1024 / 1024} MiB`
  return createErrorResponse(findId(line), ErrorCode.InvalidRequest, `a message is not longer than ${limit}`)
}

/** Whether a line that was too long to be kept answers us: then the client waits for nothing. */
export function isTruncatedResponse({ start }: TruncatedLine): boolean {
  return ANSWER_AT_START.test(start)
}

/** What a malformed line is taken for that answers us, so that nobody here waits for ever; undefined if it does not. */
export function toFailedResponse(line: string): JSONRPCErrorResponse | undefined {
  const members = toMemberMap(parseJson(line))
  const id = toRequestId(members?.get('id'))
  if (members === undefined || id === undefined || members.has('method') || !needsNoResponse(members))
    return undefined
  return createErrorResponse(id, ErrorCode.InvalidRequest, 'the client answered with what is no answer')
}

/** Finds the id of a message that cannot be parsed. */
function findId({ start, end }: TruncatedLine): RequestId | undefined {
  const found = ID_AT_START.exec(start)?.[1] ?? ID_AT_END.exec(end)?.[1]
  return found === undefined ? undefined : toRequestId(parseJson(found))
}

function createBatchErrors(values: readonly unknown[]): JSONRPCErrorResponse[] {
  const asked = values
    .flatMap((value) => toMemberMap(value) ?? [])
    .filter((members) => !needsNoResponse(members))
  const ids = asked.flatMap((members) => toRequestId(members.get('id')) ?? [])
  const message = 'messages come one by one, each on a line of its own'
  const refused = ids.length === 0 ? [undefined] : ids.slice(0, MAX_ERRORS)
  return refused.map((id) => createErrorResponse(id, ErrorCode.InvalidRequest, message))
}

function createInvalidRequestError(members: ReadonlyMap<string, unknown>): JSONRPCErrorResponse {
  const [issue] = JSONRPCRequestSchema.safeParse(Object.fromEntries(members)).error?.issues ?? []
  const isOfParams = issue?.path[0] === 'params'
  const code = isOfParams ? ErrorCode.InvalidParams : ErrorCode.InvalidRequest
  const message = issue === undefined ? 'that is no request' : formatIssue(issue)
  return createErrorResponse(toRequestId(members.get('id')), code, message)
}

/** It has no id and says what it tells, or it says what came of something: nobody waits. */
function needsNoResponse(members: ReadonlyMap<string, unknown>): boolean {
  if (members.has('method')) return typeof members.get('method') === 'string' && !members.has('id')
  return members.has('result') || members.has('error')
}

/** What JSON says; undefined for what is none. */
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
  code: ErrorCode,
  message: string,
): JSONRPCErrorResponse {
  return { jsonrpc: '2.0', ...(id !== undefined && { id }), error: { code, message } }
}
