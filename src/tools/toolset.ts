import { z } from 'zod'
import type { FileSystem } from '../vfs/index.ts'
import { truncateText } from './text/character-cut.ts'
import { escapeUnprintable } from './text/escape-unprintable.ts'
import type { ToolImage } from './tool.ts'
import type { ToolNamespace } from './tool-namespace.ts'
import {
  type AgentToolsOptions,
  type CallOptions,
  createToolRegistry,
  type ToolInfo,
  type ToolRegistry,
} from './tool-registry.ts'

/** Limit of a call id: the journal keeps it for good, and a model or its provider chose it. */
const MAX_ID_CHARACTERS = 60

/** A registry, or a source to create one for. */
export type Toolset = ToolRegistry | ToolNamespace | FileSystem

/** Options for a framework; an existing registry ignores `context`, `caller` and `tools`. */
export interface ToolsetOptions extends AgentToolsOptions {
  /** Asks the person behind the agent, such as whether a command may reach the network. */
  readonly ask?: CallOptions['ask']
}

/** Returns the given registry, or a new one. EINVAL for a bad context name or an unknown tool. */
export function toRegistry(toolset: Toolset, options?: AgentToolsOptions): ToolRegistry {
  const isObject = typeof toolset === 'object' && toolset !== null
  const isRegistry = isObject && !('capabilities' in toolset) && !('fs' in toolset)
  return isRegistry ? toolset : createToolRegistry(toolset, options)
}

/**
 * Returns a tool's schema for a framework that validates arguments: it shows the model the whole schema, but accepts
 * every object. The registry validates, in words a model can act on.
 */
export function toPermissiveSchema({ inputSchema }: ToolInfo): z.ZodType<Record<string, unknown>> {
  // The draft is up to the framework: the schemas mean the same in all.
  const { $schema: _, ...schema } = inputSchema
  return z.looseObject({}).meta(schema)
}

/** Formats an image as a `data:` URL, the form that several frameworks take. */
export function toDataUrl({ mimeType, data }: ToolImage): string {
  return `data:${mimeType};base64,${data}`
}

/** Formats a framework's call id for the journal: short and printable. */
export function formatCallTrace(framework: string, id: string): string {
  return `${framework}/${escapeUnprintable(truncateText(id, MAX_ID_CHARACTERS))}`
}
