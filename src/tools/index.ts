/**
 * Tools for agents: `vfs:///` URIs, the tools on files, names and workspaces, and the registry that checks arguments,
 * runs them for a context and caches long outputs. No policy: the guarded namespace decides what a caller may do.
 * Invariant: a call returns a result a model can act on, whatever its input; only an abort rejects.
 */

export { commandTools, fileTools, workspaceTools } from './builtin-tools.ts'
export {
  type CachedOutput,
  CacheUsage,
  OutputCache,
  type OutputCacheOptions,
  TOOL_CACHE,
  type ToolOutput,
} from './cache/index.ts'
export {
  HostFiles,
  type HostFilesOptions,
  type HostHooks,
  type HostTarget,
} from './host/index.ts'
export type { ReadTracker } from './read-tracker.ts'
export { escapeUnprintable } from './text/escape-unprintable.ts'
export type { ImageOutput, Tool, ToolCall, ToolHints, ToolImage } from './tool.ts'
export { createReadTracker, type ToolNamespace } from './tool-namespace.ts'
export {
  type AgentToolsOptions,
  type CallOptions,
  createToolRegistry,
  getToolInfo,
  type ToolInfo,
  type ToolRegistry,
} from './tool-registry.ts'
export type { ToolFailure, ToolResult } from './tool-result.ts'
export {
  formatCallTrace,
  type Toolset,
  type ToolsetOptions,
  toDataUrl,
  toPermissiveSchema,
  toRegistry,
} from './toolset.ts'
export { fromUri, toUri } from './uri.ts'
export type {
  AskPerson,
  CommandCall,
  CommandReport,
  LogEntry,
  NamedPoint,
  PersonAnswer,
  Workspace,
  WorkspaceCommand,
} from './workspace.ts'
