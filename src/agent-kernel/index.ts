/**
 * The kernel of a home: devices, namespaces of agents and process records, assembled.
 * This folder alone decides which devices exist; the kernel itself knows none.
 * Invariant: a process works in a fork of its own, and its record outlives this program.
 */
export { AgentKernel, type SpawnedAgent } from './agent-kernel.ts'
export type { CheckResult } from './check-process.ts'
export type { MissedEvents } from './event-history.ts'
export type { KernelExtension } from './kernel-settings.ts'
export type { McpServerEntry, McpServerName, McpServerReview } from './mcp-servers.ts'
export { type AgentKernelOptions, openKernel } from './open-kernel.ts'
export type { ProcessStatus } from './process-status.ts'
export type { AgentSpawn, AgentSupervision, SupervisedAgent } from './spawn-request.ts'
export type { LogLine, TraceLine } from './trace-line.ts'
