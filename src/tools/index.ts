/**
 * What an agent calls: `vfs:///` URIs, the tools on files, names and workspaces, and the registry that checks arguments,
 * runs them for a context and keeps long outputs. No policy: what a caller may do, the guarded namespace decides.
 * Invariant: a call gives a result a model can act on, whatever it was given; only an abort rejects.
 */
export {
  type CachedOutput,
  type KeptOutput,
  OutputCache,
  type OutputCacheOptions,
  TOOL_CACHE,
} from './cache/index.ts'
export {
  HostFiles,
  type HostFilesOptions,
  type HostHooks,
  type HostPlace,
} from './host/index.ts'
export type { ToolNamespace } from './namespace.ts'
export {
  type AgentToolsOptions,
  agentTools,
  type CallOptions,
  type ToolInfo,
  type ToolRegistry,
} from './registry.ts'
export { commandTools, fileTools, workspaceTools } from './stock.ts'
export { printable } from './text/printable.ts'
export type { Tool, ToolCall, ToolHints } from './tool.ts'
export type { ToolFailure, ToolResult } from './tool-result.ts'
export { callTrace, registryOf, type Toolset, type ToolsetOptions, unchecked } from './toolset.ts'
export { fromUri, toUri } from './uri.ts'
export type {
  Answer,
  Ask,
  CommandCall,
  CommandReport,
  LogEntry,
  NamedPoint,
  Workspace,
  WorkspaceCommand,
} from './workspace.ts'
