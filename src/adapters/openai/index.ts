/**
 * The tools of an agent as function schemas for OpenAI's APIs, and the responses to a model's calls.
 * No package is loaded and no request is made: the wire format is plain data.
 * Invariant: every call has one response, whatever the model sent; only an abort rejects.
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
