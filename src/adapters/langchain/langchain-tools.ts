import type { StructuredTool } from '@langchain/core/tools'
import {
  formatCallTrace,
  type ToolInfo,
  type ToolRegistry,
  type ToolResult,
  type Toolset,
  type ToolsetOptions,
  toDataUrl,
  toPermissiveSchema,
  toRegistry,
} from '../../tools/index.ts'
import { type LangChain, loadLangChain } from './load-langchain.ts'

/** Call information that LangChain passes to a tool. */
interface CallConfig {
  readonly signal?: AbortSignal
  readonly toolCall?: { readonly id?: string }
}

/**
 * Returns the tools of a file system, a namespace or a registry for LangChain. A message carries the whole result as
 * its `artifact`. EINVAL as `createToolRegistry`, ENOTSUP if the package is not installed.
 */
export async function langchainTools(
  toolset: Toolset,
  options: ToolsetOptions = {},
): Promise<StructuredTool[]> {
  const registry = toRegistry(toolset, options)
  const langChain = await loadLangChain()
  return registry.tools.map((info) => createTool(info, registry, langChain, options.ask))
}

function createTool(
  info: ToolInfo,
  registry: ToolRegistry,
  { DynamicStructuredTool, ToolMessage }: LangChain,
  ask: ToolsetOptions['ask'],
): StructuredTool {
  const { name, description, hints } = info
  const call = (args: unknown, { signal, toolCall }: CallConfig) =>
    registry.call(name, args, {
      trace: formatCallTrace('langchain', toolCall?.id ?? 'call'),
      ...(signal !== undefined && { signal }),
      ask,
    })
  return new DynamicStructuredTool({
    name,
    description,
    schema: toPermissiveSchema(info),
    metadata: { ...hints },
    func: async (args: unknown, _run: unknown, config: CallConfig = {}) => {
      const result = await call(args, config)
      const id = config.toolCall?.id
      // Without an id, a program called, which reads the text.
      return id === undefined
        ? result.text
        : new ToolMessage({ ...toMessageFields(result), name, tool_call_id: id })
    },
  })
}

/** A part of a message that shows an image. */
type MessageBlock =
  | { readonly type: 'text'; readonly text: string }
  | { readonly type: 'image_url'; readonly image_url: { readonly url: string } }

function toMessageFields(result: ToolResult): {
  readonly content: string | MessageBlock[]
  readonly status: 'error' | 'success'
  readonly artifact: ToolResult
} {
  const { text, isError, image } = result
  const status = isError ? 'error' : 'success'
  if (image === undefined) return { content: text, status, artifact: result }
  const content: MessageBlock[] = [
    { type: 'text', text },
    { type: 'image_url', image_url: { url: toDataUrl(image) } },
  ]
  return { content, status, artifact: result }
}
