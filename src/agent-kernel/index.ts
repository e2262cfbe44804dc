/**
 * The kernel of a home: devices, agents' places of work and the record of what ran, put together.
 * Which devices there are is decided here alone; the kernel itself knows none.
 * Invariant: a process works in a fork of its own, and what was recorded of it outlives this program.
 */
export { AgentKernel, type AgentSpawn, type ProcessStatus, type SpawnedAgent } from './agent-kernel.ts'
export type { MissedEvents } from './event-history.ts'
export type { McpServerEntry, McpServerName, McpServerReview } from './mcp-servers.ts'
export { type AgentKernelOptions, openKernel } from './open-kernel.ts'
export type { LogLine, TraceLine } from './trace-line.ts'
