import type { CallToolResult, Tool } from '@modelcontextprotocol/server'
import type { ToolInfo, ToolRegistry } from '../tools/index.ts'
import type { ClientHost } from './client-host.ts'
import { createElicitor } from './elicitation.ts'
import type { McpToolRequest, ToolSource } from './tools-feature.ts'

/** Tools of a registry in the protocol's form. */
export class RegistryTools implements ToolSource {
  readonly #registry: ToolRegistry
  readonly #host: ClientHost | undefined
  readonly #tools: readonly Tool[]

  constructor(registry: ToolRegistry, host?: ClientHost) {
    this.#registry = registry
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
  ): Promise<CallToolResult> {
    await this.#host?.waitForRoots()
    const options = { signal, trace, progress, ask: createElicitor(session, extra) }
    const { text, isError } = await this.#registry.call(name, args, options)
    return { content: [{ type: 'text', text }], ...(isError && { isError }) }
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
