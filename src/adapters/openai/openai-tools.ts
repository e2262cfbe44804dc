import {
  formatCallTrace,
  type ToolInfo,
  type ToolRegistry,
  type ToolResult,
  type Toolset,
  type ToolsetOptions,
  toDataUrl,
  toRegistry,
} from '../../tools/index.ts'
import { toStrictSchema, withoutNulls } from './strict-schema.ts'
import type {
  ChatToolCall,
  ChatToolMessage,
  FunctionCall,
  FunctionCallOutput,
  FunctionTool,
  OpenAiTools,
} from './wire-types.ts'

interface RunOptions {
  readonly signal?: AbortSignal
}

/**
 * Returns the tools of a file system, a namespace or a registry for `chat.completions` and `responses`; strict where
 * the schema allows it. EINVAL as `createToolRegistry`.
 */
export function openaiTools(toolset: Toolset, options: ToolsetOptions = {}): OpenAiTools {
  const registry = toRegistry(toolset, options)
  const responses = registry.tools.map(createFunctionTool)
  const strict = new Set(responses.filter((tool) => tool.strict).map(({ name }) => name))
  const run = (id: string, name: string, json: string, { signal }: RunOptions) =>
    runTool(registry, name, json, strict.has(name), {
      trace: formatCallTrace('openai', id),
      ...(signal !== undefined && { signal }),
      ask: options.ask,
    })
  return {
    chat: responses.map(({ type, ...rest }) => ({ type, function: rest })),
    responses,
    runToolCall: createRunner(run),
  }
}

function createFunctionTool({ name, description, inputSchema }: ToolInfo): FunctionTool {
  const strict = toStrictSchema(inputSchema)
  const parameters = strict ?? { ...inputSchema }
  return { type: 'function', name, description, parameters, strict: strict !== null }
}

type Run = (id: string, name: string, json: string, options: RunOptions) => Promise<CallOutput>

type CallOutput = Pick<ToolResult, 'text' | 'image'>

/** Creates the function that runs a call of either API, and returns the message that this API expects. */
function createRunner(run: Run): OpenAiTools['runToolCall'] {
  function runToolCall(call: ChatToolCall, options?: RunOptions): Promise<ChatToolMessage>
  function runToolCall(call: FunctionCall, options?: RunOptions): Promise<FunctionCallOutput>
  async function runToolCall(
    call: ChatToolCall | FunctionCall,
    options: RunOptions = {},
  ): Promise<ChatToolMessage | FunctionCallOutput> {
    if ('function' in call) {
      // The content of a tool message is text only.
      const { text: content } = await run(call.id, call.function.name, call.function.arguments, options)
      return { role: 'tool', tool_call_id: call.id, content }
    }
    const output = await run(call.call_id, call.name, call.arguments, options)
    return { type: 'function_call_output', call_id: call.call_id, output: toFunctionOutput(output) }
  }
  return runToolCall
}

async function runTool(
  registry: ToolRegistry,
  name: string,
  json: string,
  isStrict: boolean,
  options: Parameters<ToolRegistry['call']>[2],
): Promise<CallOutput> {
  const given = parseArguments(json)
  if ('problem' in given) return { text: `EINVAL: ${name}: ${given.problem}` }
  const args = isStrict ? withoutNulls(given.args) : given.args
  return registry.call(name, args, options)
}

function toFunctionOutput({ text, image }: CallOutput): FunctionCallOutput['output'] {
  if (image === undefined) return text
  return [
    { type: 'input_text', text },
    { type: 'input_image', image_url: toDataUrl(image), detail: 'auto' },
  ]
}

/** Parses arguments: JSON text, nothing for none, or an object from some servers. */
function parseArguments(given: unknown): { readonly args: unknown } | { readonly problem: string } {
  if (typeof given !== 'string') return { args: given ?? {} }
  try {
    const args: unknown = JSON.parse(given.trim() === '' ? '{}' : given)
    return { args }
  } catch (error) {
    const reason = error instanceof Error ? error.message : String(error)
    return { problem: `the arguments are not JSON (${reason}); pass a JSON object` }
  }
}
