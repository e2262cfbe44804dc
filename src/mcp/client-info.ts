import {
  CLIENT_CAPABILITIES_META_KEY,
  CLIENT_INFO_META_KEY,
  type ClientCapabilities,
  isSpecType,
  LOG_LEVEL_META_KEY,
  type LoggingLevel,
  type Server,
  type ServerContext,
  specTypeSchemas,
} from '@modelcontextprotocol/server'

type McpRequest = ServerContext['mcpReq']

/** The session of a client. */
interface ClientSession {
  readonly server: Server
  /** False for clients of revision 2026-07-28 on. */
  readonly canSendRequests: boolean
}

/** Returns what the client of a request can do. From revision 2026-07-28 on each request says it. */
export function getClientCapabilities(
  { server, canSendRequests }: ClientSession,
  request: McpRequest,
): ClientCapabilities | undefined {
  if (canSendRequests) return server.getClientCapabilities()
  const declared = readEnvelope(request, CLIENT_CAPABILITIES_META_KEY)
  const parsed = specTypeSchemas.ClientCapabilities['~standard'].validate(declared)
  return parsed.issues === undefined ? parsed.value : undefined
}

/** Returns the name of the client of a request. */
export function getClientName(
  { server, canSendRequests }: ClientSession,
  request: McpRequest,
): string | undefined {
  if (canSendRequests) return server.getClientVersion()?.name
  const found = readEnvelope(request, CLIENT_INFO_META_KEY)
  return isSpecType.Implementation(found) ? found.name : undefined
}

/** Returns the lowest level of the log messages that a client of revision 2026-07-28 wants during a request. */
export function getRequestedLogLevel(request: McpRequest): LoggingLevel | undefined {
  const found = readEnvelope(request, LOG_LEVEL_META_KEY)
  return isSpecType.LoggingLevel(found) ? found : undefined
}

function readEnvelope({ envelope = {} }: McpRequest, key: string): unknown {
  return new Map<string, unknown>(Object.entries(envelope)).get(key)
}
