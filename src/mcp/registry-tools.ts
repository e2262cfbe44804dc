import {
  type CallToolResult,
  type InputRequiredResult,
  inputRequired,
  type Tool,
} from '@modelcontextprotocol/server'
import type { ReadTracker, ToolInfo, ToolRegistry } from '../tools/index.ts'
import type { ClientHost } from './client-host.ts'
import { getClientName } from './client-info.ts'
import type { ClientReads } from './client-reads.ts'
import { ROOTS_KEY } from './client-roots.ts'
import { createElicitor } from './elicitation.ts'
import type { RequestExtra, SessionContext } from './mcp-feature.ts'
import type { McpToolRequest, ToolSource } from './tools-feature.ts'

/** Tools of a registry in the protocol's form. */
export class RegistryTools implements ToolSource {
  readonly #registry: ToolRegistry
  readonly #host: ClientHost | undefined
  readonly #reads: ClientReads
  readonly #tools: readonly Tool[]

  /** @param reads what clients without a session have read. */
  constructor(registry: ToolRegistry, reads: ClientReads, host?: ClientHost) {
    this.#registry = registry
    this.#reads = reads
    this.#host = host
    this.#tools = registry.tools.map(toMcpTool)
  }

  list(): readonly Tool[] {
    return this.#tools
  }

  async call(
    name: string,
    args: Readonly<Record<string, unknown>>,
    { signal, trace, progress, session, extra }: McpToolRequest,
  ): Promise<CallToolResult | InputRequiredResult> {
    const roots = await this.#host?.requestRoots(extra)
    if (roots !== undefined) return inputRequired({ inputRequests: { [ROOTS_KEY]: roots } })
    const { ask, unanswered } = createElicitor(session, extra)
    const { text, isError, image } = await this.#registry.call(name, args, {
      signal,
      trace,
      progress,
      ask,
      ...(session.isSingleRequest && { reads: this.#findReads(session, extra) }),
    })
    if (Object.keys(unanswered).length > 0) return inputRequired({ inputRequests: unanswered })
    const content: CallToolResult['content'] = [{ type: 'text', text }]
    if (image !== undefined) content.push({ type: 'image', ...image })
    return { content, ...(isError && { isError }) }
  }

  #findReads(session: SessionContext, extra: RequestExtra): ReadTracker {
    return this.#reads.getTracker(getClientName(session, extra.mcpReq) ?? '')
  }
}

/** Claude Code replaces longer results by a preview of 2 KB unless a tool asks for more. A page and its notes fit. */
const MAX_RESULT_META = { 'anthropic/maxResultSizeChars': 120_000 }

function toMcpTool({ name, title, description, hints, inputSchema }: ToolInfo): Tool {
  return {
    name,
    title,
    description,
    inputSchema: { ...inputSchema, type: 'object' },
    annotations: {
      title,
      readOnlyHint: hints.readOnly,
      destructiveHint: hints.destructive,
      idempotentHint: hints.idempotent,
      openWorldHint: hints.openWorld ?? false,
    },
    _meta: MAX_RESULT_META,
  }
}
