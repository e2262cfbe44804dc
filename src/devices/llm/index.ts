/**
 * Models as devices below `/dev/llm`: programs of this machine, HTTP APIs, and scripts for demos and tests.
 * What is written is a request, what is read is `{content, tokens_used}` and, where the model made one, a tool call.
 * Invariant: a request that is cancelled or takes too long leaves no process and no connection behind.
 */
export {
  anthropicDevice,
  googleDevice,
  type KeyedApiOptions,
  type OpenaiCompatibleOptions,
  openaiCompatibleDevice,
} from './api/providers.ts'
export { type CliModelOptions, claudeDevice } from './cli/claude.ts'
export { cursorDevice } from './cli/cursor.ts'
export { type ScriptOptions, scriptDevice } from './script/script-device.ts'
