import { z } from 'zod'
import type { FileSystem } from '../vfs/index.ts'
import { truncateText } from './text/character-cut.ts'
import { escapeUnprintable } from './text/escape-unprintable.ts'
import type { ToolNamespace } from './tool-namespace.ts'
import {
  type AgentToolsOptions,
  agentTools,
  type CallOptions,
  type ToolInfo,
  type ToolRegistry,
} from './tool-registry.ts'

/** The journal keeps the name of a call for good, and a model or its provider chose it. */
const MAX_ID_CHARACTERS = 60

/** What tools can be had of: a registry as it is, or what one can be made for. */
export type Toolset = ToolRegistry | ToolNamespace | FileSystem

/** How tools are offered to a framework; `context`, `caller` and `tools` say nothing of a registry that is made already. */
export interface ToolsetOptions extends AgentToolsOptions {
  /** Puts a question to the person behind the agent, such as whether a command may reach the network. */
  readonly ask?: CallOptions['ask']
}

/** The registry somebody gave, or a new one for what they gave. EINVAL for a bad context name or a tool there is not. */
export function toRegistry(toolset: Toolset, options?: AgentToolsOptions): ToolRegistry {
  return 'capabilities' in toolset || 'fs' in toolset ? agentTools(toolset, options) : toolset
}

/**
 * A tool's schema for a framework that would check arguments itself: it tells the model all of the schema, and takes
 * every object. The registry checks, in words a model can act on.
 */
export function toPermissiveSchema({ inputSchema }: ToolInfo): z.ZodType<Record<string, unknown>> {
  // Which draft it is, whoever asks for it decides: the schemas mean the same in all.
  const { $schema: _, ...schema } = inputSchema
  return z.looseObject({}).meta(schema)
}

/** Which call of which framework it is, for the journal: short and printable, whatever the id is. */
export function formatCallTrace(framework: string, id: string): string {
  return `${framework}/${escapeUnprintable(truncateText(id, MAX_ID_CHARACTERS))}`
}
