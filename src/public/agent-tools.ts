import type { AgentToolsOptions, ToolNamespace, ToolRegistry } from '../tools/index.ts'
import type { FileSystem } from '../vfs/index.ts'

/**
 * Creates the tools with which an agent reads, searches and changes the files of any file system or namespace.
 * Each tool has a name, a description and a JSON Schema; `call` returns a result that a model can act on.
 * EINVAL for a bad context name or an unknown tool.
 *
 * The tools are loaded on the first call. `createToolRegistry` of `coppice/tools` is the same without the wait.
 *
 * @example
 * ```ts
 * const tools = await agentTools(new MemoryFs({ '/notes.md': 'one\n' }))
 * const { text } = await tools.call('file_read', { path: 'vfs:///notes.md' })
 * assert.match(text, /one/)
 * ```
 */
export async function agentTools(
  files: ToolNamespace | FileSystem,
  options: AgentToolsOptions = {},
): Promise<ToolRegistry> {
  const { createToolRegistry } = await import('../tools/index.ts')
  return createToolRegistry(files, options)
}
