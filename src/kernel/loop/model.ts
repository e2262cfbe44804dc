import { z } from 'zod'
import { VfsError } from '../../vfs/index.ts'
import type { Prompt } from '../context/index.ts'

/** A tool definition for providers with native tool calling. */
export interface ToolDefinition {
  readonly name: string
  readonly description: string
  readonly input_schema: Readonly<Record<string, unknown>>
}

/** A request, as written to a model's device. */
export interface ModelRequest {
  readonly intent: string
  readonly system_prompt: string
  readonly model: string
  readonly max_turns: number
  readonly timeout_ms: number
  readonly messages: Prompt['messages']
  readonly tools: readonly ToolDefinition[]
}

/** A tool call in a provider's native format. */
interface NativeCall {
  readonly id: string
  readonly name: string
  readonly input?: unknown
}

/** A response, as read from a model's device. */
export interface ModelResponse {
  readonly content: string
  readonly tokens_used: number
  /** All tool calls of the response, in order. */
  readonly tool_calls?: readonly NativeCall[] | undefined
}

const nativeCallSchema = z.object({ id: z.string(), name: z.string(), input: z.unknown().optional() })

const modelResponseSchema: z.ZodType<ModelResponse> = z
  .object({
    content: z.string(),
    tokens_used: z.number().nonnegative().default(0),
    tool_calls: z.array(nativeCallSchema).optional(),
    /** Single-call form, for devices that make one call at a time. */
    tool_call: nativeCallSchema.optional(),
  })
  .transform(({ tool_call, tool_calls, ...response }) => ({
    ...response,
    tool_calls: tool_calls ?? (tool_call === undefined ? undefined : [tool_call]),
  }))

/** Parses a response, which may be JSON. Throws EIO for a malformed one. */
export function parseResponse(answer: unknown, path: string): ModelResponse {
  try {
    return modelResponseSchema.parse(typeof answer === 'string' ? JSON.parse(answer) : answer)
  } catch (error) {
    const detail = 'the response of the model is malformed; it must be JSON with content and tokens_used'
    throw new VfsError('EIO', path, { op: 'read', detail, cause: error })
  }
}
