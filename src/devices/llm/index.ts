/**
 * Models as devices below `/dev/llm`: local programs, HTTP APIs, and scripts for demos and tests.
 * A write is a request; a read returns `{content, tokens_used}`, and `tool_calls` if the model made some.
 * Invariant: a request that is cancelled or times out leaves no process and no connection behind.
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
