/**
 * The loop of a process: ask its model, do what it says, tell it what came of that.
 * A model is a file that requests are written to; an action that makes no sense is told to it, not fatal.
 * Invariant: each turn leaves a step record, whatever came of it.
 */
export type { AgentAction } from './agent-action.ts'
export type { LoopEnvironment } from './loop-environment.ts'
export type { ModelRequest, ModelResponse, ToolDefinition } from './model.ts'
export { ModelFallbacks } from './model-fallbacks.ts'
export { reasonLoop } from './reason-loop.ts'
