import {
  ErrorCode,
  type JSONRPCErrorResponse,
  JSONRPCRequestSchema,
  type RequestId,
} from '@modelcontextprotocol/sdk/types.js'
import { issueText } from './issue-text.ts'
import { MAX_MESSAGE_BYTES } from './limits.ts'
import { type CutLine, cutLine } from './message-lines.ts'

/** Of more requests in one line, nobody can be waiting. */
const MAX_REFUSED = 100
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
export function refusalsOf(line: string): JSONRPCErrorResponse[] {
  let value: unknown
  try {
    value = JSON.parse(line)
  } catch (error) {
    const ends = cutLine(line)
    // The id of an answer is one of ours: the client may wait for something else by the same.
    const id = isCutAnswer(ends) ? undefined : findId(ends)
    return [refusal(id, ErrorCode.ParseError, String(error))]
  }
  if (Array.isArray(value)) return refusalsOfBatch(value)
  const members = membersOf(value)
  if (members === undefined) return [refusal(undefined, ErrorCode.InvalidRequest, 'a message is an object')]
  return isUnasked(members) ? [] : [refusalOf(members)]
}

/** The same for a line that was too long to be kept. */
export function refusalOfCut(line: CutLine): JSONRPCErrorResponse {
  const limit = `${MAX_MESSAGE_BYTES / 1024 / 1024} MiB`
  return refusal(findId(line), ErrorCode.InvalidRequest, `a message is not longer than ${limit}`)
}

/** Whether a line that was too long to be kept answers us: then the client waits for nothing. */
export function isCutAnswer({ start }: CutLine): boolean {
  return ANSWER_AT_START.test(start)
}

/** What a malformed line is taken for that answers us, so that nobody here waits for ever; undefined if it does not. */
export function failedAnswer(line: string): JSONRPCErrorResponse | undefined {
  const members = membersOf(parsed(line))
  const id = idOf(members?.get('id'))
  if (members === undefined || id === undefined || members.has('method') || !isUnasked(members))
    return undefined
  return refusal(id, ErrorCode.InvalidRequest, 'the client answered with what is no answer')
}

/** Finds the id of a message that cannot be parsed. */
function findId({ start, end }: CutLine): RequestId | undefined {
  const found = ID_AT_START.exec(start)?.[1] ?? ID_AT_END.exec(end)?.[1]
  return found === undefined ? undefined : idOf(parsed(found))
}

function refusalsOfBatch(values: readonly unknown[]): JSONRPCErrorResponse[] {
  const asked = values.flatMap((value) => membersOf(value) ?? []).filter((members) => !isUnasked(members))
  const ids = asked.flatMap((members) => idOf(members.get('id')) ?? [])
  const message = 'messages come one by one, each on a line of its own'
  const refused = ids.length === 0 ? [undefined] : ids.slice(0, MAX_REFUSED)
  return refused.map((id) => refusal(id, ErrorCode.InvalidRequest, message))
}

function refusalOf(members: ReadonlyMap<string, unknown>): JSONRPCErrorResponse {
  const [issue] = JSONRPCRequestSchema.safeParse(Object.fromEntries(members)).error?.issues ?? []
  const isOfParams = issue?.path[0] === 'params'
  const code = isOfParams ? ErrorCode.InvalidParams : ErrorCode.InvalidRequest
  const message = issue === undefined ? 'that is no request' : issueText(issue)
  return refusal(idOf(members.get('id')), code, message)
}

/** It has no id and says what it tells, or it says what came of something: nobody waits. */
function isUnasked(members: ReadonlyMap<string, unknown>): boolean {
  if (members.has('method')) return typeof members.get('method') === 'string' && !members.has('id')
  return members.has('result') || members.has('error')
}

/** What JSON says; undefined for what is none. */
function parsed(text: string): unknown {
  try {
    return JSON.parse(text)
  } catch {
    return undefined
  }
}

function membersOf(value: unknown): ReadonlyMap<string, unknown> | undefined {
  const isObject = typeof value === 'object' && value !== null && !Array.isArray(value)
  return isObject ? new Map(Object.entries(value)) : undefined
}

function idOf(id: unknown): RequestId | undefined {
  return typeof id === 'string' || typeof id === 'number' ? id : undefined
}

function refusal(id: RequestId | undefined, code: ErrorCode, message: string): JSONRPCErrorResponse {
  return { jsonrpc: '2.0', ...(id !== undefined && { id }), error: { code, message } }
}
