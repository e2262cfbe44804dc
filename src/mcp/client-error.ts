import { ErrorCode, isJSONRPCErrorResponse, type JSONRPCMessage } from '@modelcontextprotocol/sdk/types.js'
import { formatIssue, type SchemaIssue } from './format-issue.ts'

/** The SDK writes the code into the words, and whoever reads them has the code beside them. */
const CODE_PREFIX = /^MCP error -?\d+: /

/**
 * A message with its error, if it is one, as a client can act on it. The SDK tells of params that are not as the
 * protocol has them as if something had failed here, and prints what its schema said.
 */
export function withClientError(message: JSONRPCMessage): JSONRPCMessage {
  if (!isJSONRPCErrorResponse(message)) return message
  const { code, message: words } = message.error
  const [issue] = code === ErrorCode.InternalError ? parseIssues(words) : []
  const told =
    issue === undefined
      ? { message: words.replace(CODE_PREFIX, '') }
      : { code: ErrorCode.InvalidParams, message: formatIssue(issue) }
  return { ...message, error: { ...message.error, ...told } }
}

/** An error in one line. */
export function formatError(error: unknown): string {
  const words = error instanceof Error ? error.message : String(error)
  const [issue] = parseIssues(words)
  return issue === undefined ? words.replace(CODE_PREFIX, '') : formatIssue(issue)
}

function parseIssues(text: string): SchemaIssue[] {
  try {
    const value: unknown = JSON.parse(text)
    return Array.isArray(value) ? value.filter(isIssue) : []
  } catch {
    return []
  }
}

function isIssue(value: unknown): value is SchemaIssue {
  if (typeof value !== 'object' || value === null || !('path' in value) || !('message' in value)) return false
  return Array.isArray(value.path) && typeof value.message === 'string'
}
