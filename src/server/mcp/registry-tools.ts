import type { CallToolResult, Tool } from '@modelcontextprotocol/sdk/types.js'
import type { ToolInfo, ToolRegistry } from '../../tools/index.ts'
import type { ClientHost } from './client-host.ts'
import { personBehind } from './person.ts'
import type { ToolRequest, ToolSource } from './tools-part.ts'

/** The tools of a registry as the protocol speaks of them. */
export class RegistryTools implements ToolSource {
  readonly #registry: ToolRegistry
  readonly #host: ClientHost | undefined
  readonly #tools: readonly Tool[]

  constructor(registry: ToolRegistry, host?: ClientHost) {
    this.#registry = registry
    this.#host = host
    this.#tools = registry.tools.map(toolOf)
  }

  list(): readonly Tool[] {
    return this.#tools
  }

  async call(
    name: string,
    args: Readonly<Record<string, unknown>>,
    { signal, trace, progress, session, extra }: ToolRequest,
  ): Promise<CallToolResult> {
    await this.#host?.settled()
    const options = { signal, trace, progress, ask: personBehind(session, extra) }
    const { text, isError } = await this.#registry.call(name, args, options)
    return { content: [{ type: 'text', text }], ...(isError && { isError }) }
  }
}

function toolOf({ name, title, description, hints, inputSchema }: ToolInfo): Tool {
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
  }
}
