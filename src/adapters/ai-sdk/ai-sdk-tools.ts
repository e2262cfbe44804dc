import type { Tool, ToolExecutionOptions } from 'ai'
import {
  formatCallTrace,
  type ToolInfo,
  type ToolRegistry,
  type ToolResult,
  type Toolset,
  type ToolsetOptions,
  toPermissiveSchema,
  toRegistry,
} from '../../tools/index.ts'

/** An AI SDK tool. Its output is the whole result; the model reads the text. */
export type AiSdkTool = Tool<Record<string, unknown>, ToolResult> & {
  execute(input: Record<string, unknown>, options: ToolExecutionOptions): Promise<ToolResult>
}

/** Returns the tools of a file system, a namespace or a registry for the AI SDK, by name. EINVAL as `createToolRegistry`. */
export function aiSdkTools(toolset: Toolset, options: ToolsetOptions = {}): Record<string, AiSdkTool> {
  const registry = toRegistry(toolset, options)
  return Object.fromEntries(
    registry.tools.map((info) => [info.name, createTool(info, registry, options.ask)]),
  )
}

function createTool(info: ToolInfo, registry: ToolRegistry, ask: ToolsetOptions['ask']): AiSdkTool {
  return {
    title: info.title,
    description: info.description,
    inputSchema: toPermissiveSchema(info),
    execute: (input, { toolCallId, abortSignal }) =>
      registry.call(info.name, input, {
        trace: formatCallTrace('ai', toolCallId),
        ...(abortSignal !== undefined && { signal: abortSignal }),
        ask,
      }),
    // A thrown error would reach the next turn of a chat as "An error occurred."
    toModelOutput: ({ output }) => toModelOutput(output),
  }
}

type ModelOutput = Awaited<ReturnType<NonNullable<AiSdkTool['toModelOutput']>>>

function toModelOutput({ text, isError, image }: ToolResult): ModelOutput {
  if (image === undefined) return { type: isError ? 'error-text' : 'text', value: text }
  const { mimeType: mediaType, data } = image
  return {
    type: 'content',
    value: [
      { type: 'text', text },
      { type: 'image-data', data, mediaType },
    ],
  }
}
