import {
  isJSONRPCErrorResponse,
  type JSONRPCMessage,
  ProtocolErrorCode,
  type Transport,
} from '@modelcontextprotocol/server'
import { formatIssue, type SchemaIssue } from './format-issue.ts'

/** Clients on the first SDK repeat the code in the message, beside the code itself. */
const CODE_PREFIX = /^MCP error -?\d+: /
/** The SDK names the request before the issues of its schema. */
const REQUEST_PREFIX = /^Invalid \S+ request: /

/**
 * Rewrites an error so that a client can act on it. The SDK reports invalid params with the raw output of its schema.
 */
function withClientError(message: JSONRPCMessage): JSONRPCMessage {
  // Most messages are no errors, and the schema of the SDK takes long to say so.
  if (!('error' in message) || !isJSONRPCErrorResponse(message)) return message
  const [issue] = parseIssues(message.error.message)
  if (issue === undefined) return message
  const replaced = { code: ProtocolErrorCode.InvalidParams, message: formatIssue(issue) }
  return { ...message, error: { ...message.error, ...replaced } }
}

/** Formats an error without what the SDK adds: the first issue of its schema, or the message without its code. */
export function formatError(error: unknown): string {
  const text = error instanceof Error ? error.message : String(error)
  const [issue] = parseIssues(text)
  return issue === undefined ? text.replace(CODE_PREFIX, '') : formatIssue(issue)
}

function parseIssues(text: string): SchemaIssue[] {
  try {
    const value: unknown = JSON.parse(text.replace(REQUEST_PREFIX, ''))
    return Array.isArray(value) ? value.filter(isIssue) : []
  } catch {
    return []
  }
}

function isIssue(value: unknown): value is SchemaIssue {
  if (typeof value !== 'object' || value === null || !('path' in value) || !('message' in value)) return false
  return Array.isArray(value.path) && typeof value.message === 'string'
}

/** Makes a transport send errors in the form for clients. Changes the transport, and returns it. */
export function translateErrors<T extends Transport>(transport: T): T {
  const send = transport.send.bind(transport)
  transport.send = (message, options) => send(withClientError(message), options)
  return transport
}
