import { Client } from '@modelcontextprotocol/client'
import { StdioClientTransport } from '@modelcontextprotocol/client/stdio'

/** A call of a tool, as its server wants it. */
export interface ToolCall {
  readonly name: string
  readonly arguments: Record<string, unknown>
}

/** A server to compare, and how it names what all of them can do. Paths begin with its root. */
export interface McpSubject {
  /** Arguments for Node. */
  readonly args: readonly string[]
  /** Working directory; that of the benchmark when absent. */
  readonly cwd?: string
  /** Path of the files in the server's notation. */
  readonly root: string
  read(path: string): ToolCall
  write(path: string, content: string): ToolCall
  list(directory: string): ToolCall
  edit(path: string, find: string, replace: string): ToolCall
  search(directory: string, pattern: string): ToolCall
}

/** A server in a process of its own, behind the official client. */
export class McpServer implements AsyncDisposable {
  readonly #client: Client

  private constructor(client: Client) {
    this.#client = client
  }

  static async start({ args, cwd }: McpSubject): Promise<McpServer> {
    const client = new Client({ name: 'coppice-bench', version: '0.0.0' })
    const transport = new StdioClientTransport({
      command: process.execPath,
      args: [...args],
      stderr: 'ignore',
      ...(cwd !== undefined && { cwd }),
    })
    await client.connect(transport)
    return new McpServer(client)
  }

  /** The text a tool gives. Throws if it fails. */
  async call(call: ToolCall): Promise<string> {
    const result = await this.#client.callTool({ ...call })
    const text = extractText(result.content)
    if (result.isError) throw new Error(`${call.name} failed: ${text}`)
    return text
  }

  async [Symbol.asyncDispose](): Promise<void> {
    await this.#client.close()
  }
}

function extractText(content: unknown): string {
  if (!Array.isArray(content)) return ''
  return content
    .map((part: { text?: unknown }) => (typeof part.text === 'string' ? part.text : ''))
    .join('\n')
}
