/**
 * The MCP server: sessions made of parts (tools, resources, completions), over stdio and HTTP, and the namespace as
 * such parts. No tool and no policy of its own: it serves a registry and a file system that are guarded already.
 * Invariant: everything a session started ends with it, and a client receives nothing that it could not request.
 */
export { createCompletionsFeature } from './completions-feature.ts'
export { createMcpServer, type McpServer } from './create-mcp-server.ts'
export { type HttpOptions, type HttpServer, serveHttp } from './http/index.ts'
export type { ListenAction, McpFeature } from './mcp-feature.ts'
export { McpSession, type OpenSession } from './mcp-session.ts'
export type { ResourceSource } from './resource-source.ts'
export { createResourcesFeature } from './resources-feature.ts'
export { serveStdio } from './serve-stdio.ts'
export { createToolsFeature, type McpToolRequest, type ToolSource } from './tools-feature.ts'
