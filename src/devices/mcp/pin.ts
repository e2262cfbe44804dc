import type { ToolFacts } from './tool-facts.ts'

/** An approval: a server's tool descriptions and their hash. */
export interface Pin {
  readonly hash: string
  readonly tools: readonly ToolFacts[]
}
