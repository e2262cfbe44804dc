/**
 * MCP servers as devices below `/mnt/mcp`: a write calls a tool, a read returns a resource.
 * The client is the official SDK's; this folder manages its lifetime and its trust.
 * Invariant: a process sees only tool descriptions that were approved, and no secret of a server.
 */
export { McpMounts, type McpMountsOptions } from './mcp-mounts.ts'
export type { Pin } from './pin.ts'
export type { Pins } from './pinned-tools.ts'
export type { ToolFacts } from './tool-facts.ts'
export type { ToolChange, ToolReview } from './tool-review.ts'
