import { contextCaller } from '../access/index.ts'
import type { Namespace } from '../namespace/index.ts'
import { createReadTracker } from '../tools/index.ts'
import { ClientHost } from './client-host.ts'
import { ClientReads } from './client-reads.ts'
import { createCompletionsFeature } from './completions-feature.ts'
import { createPathCompleter, FileResources } from './files/index.ts'
import { formatInstructions } from './instructions.ts'
import type { McpFeature, SessionContext } from './mcp-feature.ts'
import { McpSession, type OpenSession } from './mcp-session.ts'
import { RegistryTools } from './registry-tools.ts'
import { createResourcesFeature } from './resources-feature.ts'
import { createToolsFeature } from './tools-feature.ts'

export interface McpServerOptions {
  readonly version: string
  /** Names of the tools to serve; all when absent. */
  readonly tools?: readonly string[]
  /** Serve only tools that change nothing. Open the namespace itself read-only as well. */
  readonly isReadOnly?: boolean
  /** Allow the tools to use the client's roots, whatever the namespace allows. */
  readonly allowsRoots?: boolean
}

/** A server for MCP clients: one session each, over any transport. */
export interface McpServer {
  readonly open: OpenSession
}

/**
 * Serves the tools and files of a namespace. The caller closes the namespace, after the sessions. EINVAL for an
 * unknown tool.
 */
export function createMcpServer(namespace: Namespace, options: McpServerOptions): McpServer {
  const { version, isReadOnly = false, allowsRoots = false } = options
  const hasHost = namespace.host !== undefined || allowsRoots
  const ctx = { caller: contextCaller(namespace.context) }
  const names = listToolNames(namespace, options)
  const { fs } = namespace
  const reads = new ClientReads(() => createReadTracker(fs))
  const openTools = (session: SessionContext) => {
    const host = hasHost ? new ClientHost(session, namespace.hostFiles(), allowsRoots) : undefined
    return new RegistryTools(namespace.tools({ tools: names, host: host?.files }), reads, host)
  }
  const watch = (path: string, call: typeof ctx) => namespace.watch(path, call)
  const parts: readonly McpFeature[] = [
    createToolsFeature(openTools),
    createResourcesFeature(new FileResources({ fs, ctx, roots: listRoots(namespace), watch })),
    createCompletionsFeature(createPathCompleter(fs, ctx)),
  ]
  const info = { name: 'coppice', title: 'Coppice', version }
  const instructions = formatInstructions(namespace, { isReadOnly, hasHost })
  return { open: (client = {}) => new McpSession({ info, instructions, parts, ...client }) }
}

function listToolNames(
  namespace: Namespace,
  { tools, isReadOnly = false }: McpServerOptions,
): readonly string[] {
  const registry = namespace.tools(tools === undefined ? {} : { tools })
  return registry.tools.filter(({ hints }) => !isReadOnly || hints.readOnly).map(({ name }) => name)
}

/** Lists the directories a client can pick from, the project first. */
function listRoots({ workspace, context }: Namespace): string[] {
  return [...(workspace === undefined ? [] : [workspace.path]), `/home/${context}`, '/shared']
}
