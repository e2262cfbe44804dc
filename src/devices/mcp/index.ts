/**
 * MCP servers as devices below `/mnt/mcp`: their tools are called by a write, their resources are read.
 * The client is the official SDK's; what is here is how long it lives and what of it is trusted.
 * Invariant: nothing a server says about its tools reaches a process unless it is what was approved, nor a secret of its own.
 */
export { McpMounts, type McpMountsOptions } from './mcp-mounts.ts'
export type { Pin } from './pin.ts'
export type { Pins } from './pinned-tools.ts'
export type { ToolFacts } from './tool-facts.ts'
export type { ToolChange, ToolReview } from './tool-review.ts'
