/**
 * The loop of a process: ask its model, do what it says, tell it what came of that.
 * A model is a file that requests are written to; an action that makes no sense is told to it, not fatal.
 * Invariant: each turn leaves a step record, whatever came of it.
 */
export { type Action, actionNames, type Reading, readAnswer } from './action.ts'
export type { LoopSurroundings, PreparedCall } from './loop-surroundings.ts'
export { type ModelRequest, type ModelResponse, readResponse, type ToolOffer } from './model.ts'
export { type LoopOptions, reasonLoop } from './reason-loop.ts'
