import type { ToolFacts } from './tool-facts.ts'

/** What was approved of a server: what it said about its tools, and a hash of that. */
export interface Pin {
  readonly hash: string
  readonly tools: readonly ToolFacts[]
}
