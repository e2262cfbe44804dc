import { z } from 'zod'
import type { ContextMessage, ModelRequest } from '../../../kernel/index.ts'
import { VfsError } from '../../../vfs/index.ts'
import { parseDeviceRequest } from '../../operation/index.ts'

const DEFAULT_TIMEOUT_MS = 300_000
/** Longest delay of a timer. */
const MAX_TIMEOUT_MS = 2 ** 31 - 1
/** The name becomes an argument of programs and must not look like an option. */
const MODEL_NAME = /^(?:[^\s\p{Cc}-][^\s\p{Cc}]*)?$/u

const messageSchema = z.object({
  role: z.enum(['system', 'user', 'assistant', 'tool']),
  content: z.string(),
  tool_call_id: z.string().optional(),
})

const toolSchema = z.object({
  name: z.string().min(1),
  description: z.string().default(''),
  input_schema: z.record(z.string(), z.unknown()).default({ type: 'object' }),
})

const modelRequestSchema = z.object({
  intent: z.string().default(''),
  system_prompt: z.string().default(''),
  model: z
    .string()
    .regex(MODEL_NAME, 'a model name has visible characters only and does not start with a dash')
    .default(''),
  max_turns: z.int().positive().default(1),
  timeout_ms: z.int().positive().max(MAX_TIMEOUT_MS).default(DEFAULT_TIMEOUT_MS),
  messages: z.array(messageSchema).default([]),
  tools: z.array(toolSchema).default([]),
})

/** Parses a request and fills in defaults. Without messages, the intent becomes the message. Throws EINVAL. */
export function parseModelRequest(path: string, body: unknown): ModelRequest {
  const { messages, intent, ...rest } = parseDeviceRequest(path, modelRequestSchema, body)
  if (messages.length > 0) return { ...rest, intent, messages: messages.map(toContextMessage) }
  if (intent !== '') return { ...rest, intent, messages: [{ role: 'user', content: intent }] }
  const detail = "the request is empty; give 'messages' [{role, content}], or an 'intent'"
  throw new VfsError('EINVAL', path, { op: 'write', detail })
}

function toContextMessage({ role, content, tool_call_id }: z.output<typeof messageSchema>): ContextMessage {
  return { role, content, ...(tool_call_id !== undefined && { tool_call_id }) }
}
