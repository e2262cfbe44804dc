import {
  type CallToolResult,
  type InputRequiredResult,
  ProtocolError,
  ProtocolErrorCode,
  type Tool,
} from '@modelcontextprotocol/server'
import { formatTrace, truncatePrintable } from './call-trace.ts'
import { getClientName } from './client-info.ts'
import type { McpFeature, RequestExtra, SessionContext } from './mcp-feature.ts'
import { createProgressReporter } from './progress.ts'

/** A tool call of a session. */
export interface McpToolRequest {
  readonly signal: AbortSignal
  /** Trace id of the call for the journal. */
  readonly trace: string
  readonly progress: (done: number, total?: number, message?: string) => void
  readonly session: SessionContext
  readonly extra: RequestExtra
}

/** Tools in the protocol's form. */
export interface ToolSource {
  list(): readonly Tool[]
  /**
   * Calls a listed tool. A failure is an error result; only a cancelled call rejects. If the client has to answer
   * something first, the result asks it.
   */
  call(
    name: string,
    args: Readonly<Record<string, unknown>>,
    request: McpToolRequest,
  ): Promise<CallToolResult | InputRequiredResult>
}

/** Serves tools from one source per session. Only listed tools can be called. */
export function createToolsFeature(open: (session: SessionContext) => ToolSource): McpFeature {
  return {
    capabilities: { tools: {} },
    attach(session) {
      const source = open(session)
      session.server.setRequestHandler('tools/list', () => ({ tools: [...source.list()] }))
      session.server.setRequestHandler('tools/call', ({ params }, extra) =>
        callTool(source, session, params.name, params.arguments ?? {}, extra),
      )
    },
  }
}

async function callTool(
  source: ToolSource,
  session: SessionContext,
  name: string,
  args: Readonly<Record<string, unknown>>,
  extra: RequestExtra,
): Promise<CallToolResult | InputRequiredResult> {
  const names = source.list().map((tool) => tool.name)
  if (!names.includes(name)) {
    throw new ProtocolError(
      ProtocolErrorCode.InvalidParams,
      `there is no tool '${truncatePrintable(name)}'; known: ${names.join(', ')}`,
    )
  }
  const progress = createProgressReporter(extra)
  const startedAt = performance.now()
  try {
    const trace = formatTrace(getClientName(session, extra.mcpReq), extra.mcpReq.id)
    const request = { signal: extra.mcpReq.signal, trace, progress: progress.report, session, extra }
    const result = await source.call(name, args, request)
    const entry = {
      tool: name,
      ms: Math.round(performance.now() - startedAt),
      failed: 'isError' in result && result.isError === true,
    }
    await session.log.write('debug', entry, extra.mcpReq)
    return result
  } finally {
    progress.finish()
  }
}
