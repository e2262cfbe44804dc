/**
 * The tools of an agent as function schemas for OpenAI's interfaces, and the answers to a model's calls of them.
 * No package is loaded and no request is made: what goes over the wire is data.
 * Invariant: every call has one answer, whatever the model gave; only an abort rejects.
 */
export { openaiTools } from './openai-tools.ts'
export type {
  ChatTool,
  ChatToolCall,
  ChatToolMessage,
  FunctionCall,
  FunctionCallOutput,
  FunctionTool,
  OpenAiTools,
} from './wire-types.ts'
