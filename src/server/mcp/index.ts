/**
 * The MCP server: sessions made of parts (tools, resources, completions), over stdio and HTTP, and the namespace as
 * such parts. No tool and no policy of its own: it serves a registry and a file system that are guarded already.
 * Invariant: whatever a session began ends with it, and nothing is told to a client that it could not have asked for.
 */
export { completionsPart } from './completions-part.ts'
export { createMcpServer, type McpServer } from './create-mcp-server.ts'
export { type HttpOptions, type HttpServer, serveHttp } from './http/index.ts'
export type { McpPart } from './part.ts'
export type { ResourceSource } from './resource-source.ts'
export { resourcesPart } from './resources-part.ts'
export { serveStdio } from './serve-stdio.ts'
export { McpSession } from './session.ts'
export { type ToolRequest, type ToolSource, toolsPart } from './tools-part.ts'
