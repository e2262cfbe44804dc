/**
 * The loop of a process: ask its model, do what it says, tell it what came of that.
 * A model is a file that requests are written to; an action that makes no sense is told to it, not fatal.
 * Invariant: each turn leaves a step record, whatever came of it.
 */
export type { Action } from './action.ts'
export type { LoopSurroundings } from './loop-surroundings.ts'
export type { ModelRequest, ModelResponse, ToolOffer } from './model.ts'
export { Models } from './models.ts'
export { reasonLoop } from './reason-loop.ts'
