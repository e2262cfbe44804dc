/**
 * The loop of a process: ask its model, perform the actions, return the outcomes to the model.
 * A model is a file that serves requests. A malformed action is reported to the model and is not fatal.
 * Invariant: each turn in which the model answered leaves a step record, unless the process is cancelled.
 */
export type { AgentAction } from './agent-action.ts'
export type { LoopEnvironment } from './loop-environment.ts'
export type { ModelRequest, ModelResponse, ToolDefinition } from './model.ts'
export { ModelFallbacks } from './model-fallbacks.ts'
export { reasonLoop } from './reason-loop.ts'
export { BusyError, ModelStartError } from './retry-backoff.ts'
