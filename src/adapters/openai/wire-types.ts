/** JSON Schema of a tool's arguments. */
export type ToolParameters = Record<string, unknown>

/** A tool for `chat.completions`. */
export interface ChatTool {
  type: 'function'
  function: { name: string; description: string; parameters: ToolParameters; strict: boolean }
}

/** A tool for `responses`. */
export interface FunctionTool {
  type: 'function'
  name: string
  description: string
  parameters: ToolParameters
  strict: boolean
}

/** A call in an assistant's message of `chat.completions`. */
export interface ChatToolCall {
  readonly id: string
  readonly type?: 'function'
  readonly function: { readonly name: string; readonly arguments: string }
}

/** Response to a call: the next message. */
export interface ChatToolMessage {
  role: 'tool'
  tool_call_id: string
  content: string
}

/** A call in the output of `responses`. */
export interface FunctionCall {
  readonly type: 'function_call'
  readonly call_id: string
  readonly name: string
  readonly arguments: string
}

/** A part of a response to a call that shows an image. */
type FunctionOutputPart =
  | { type: 'input_text'; text: string }
  | { type: 'input_image'; image_url: string; detail: 'auto' }

/** Response to a call: an item of the next input. */
export interface FunctionCallOutput {
  type: 'function_call_output'
  call_id: string
  output: string | FunctionOutputPart[]
}

/** Tools in both forms, and the function that runs calls. */
export interface OpenAiTools {
  readonly chat: ChatTool[]
  readonly responses: FunctionTool[]
  /** Runs a call. Failures are responses a model can act on; only an aborted call rejects. */
  runToolCall(call: ChatToolCall, options?: { readonly signal?: AbortSignal }): Promise<ChatToolMessage>
  runToolCall(call: FunctionCall, options?: { readonly signal?: AbortSignal }): Promise<FunctionCallOutput>
}
