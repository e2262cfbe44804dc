import { once } from 'node:events'
import { resolve } from 'node:path'
import { isErrno } from '../../../machine/index.ts'
import type { McpServer } from '../../../mcp/index.ts'
import { type NamespaceChoices, resolveWorkspaceVault, withNamespace } from '../../access/namespace-access.ts'
import { type Command, defineCommand } from '../../framework/command.ts'
import type { CommandInvocation } from '../../framework/command-invocation.ts'
import { CommandError } from '../../framework/errors.ts'
import { UsageError } from '../../framework/usage-error.ts'
import { readVersion } from '../../package-root.ts'
import { context, fork } from '../shared-options.ts'
import { resolveToken } from './mcp-token.ts'

const DEFAULT_PORT = 7780
const MAX_PORT = 65_535

type McpInvocation = CommandInvocation<
  | 'context'
  | 'fork'
  | 'allow'
  | 'allow-roots'
  | 'tools'
  | 'read-only'
  | 'no-exec'
  | 'http'
  | 'port'
  | 'token-file'
>

export const mcp: Command = defineCommand(
  {
    name: 'mcp',
    summary: 'Serve tools and files to an MCP client',
    details: `Speaks MCP over stdin and stdout until the client closes them, or with --http over streamable HTTP.
The vault is /workspace; with --fork a fork of it, so that the vault stays as it is until you merge.
Beside it there are /shared, /home/<context> and the mounts of config.toml.
Commands run in forks of the vault, through the boundary of coppice exec; what it gates, the client asks you about.
Files of this machine are out of reach unless --allow or --allow-roots says otherwise.
Over HTTP a client sends the header Authorization: Bearer <token>. Each start makes a token and shows it,
unless --token-file or $COPPICE_MCP_TOKEN has one.`,
    scope: 'vault',
    options: {
      fork,
      context,
      allow: {
        summary: "Let tools use this directory if it is in the client's roots; repeatable",
        value: 'directory',
        isList: true,
        offers: 'file',
      },
      'allow-roots': { summary: "Let tools use the client's roots, whatever they are" },
      tools: {
        summary: 'Offer only these tools, separated by commas',
        value: 'names',
        offers: 'tool',
      },
      'read-only': { summary: 'Offer only tools that read' },
      'no-exec': { summary: 'Do not offer shell_exec' },
      http: { summary: 'Serve HTTP on 127.0.0.1 instead of stdio' },
      port: { summary: `The port for HTTP (${DEFAULT_PORT}); 0 takes any that is free`, value: 'number' },
      'token-file': { summary: 'Read the token for HTTP from this file', value: 'file', offers: 'file' },
    },
    examples: [
      'coppice mcp --vault base',
      'coppice mcp --vault base --fork task-1 --context alice',
      'coppice mcp --allow ~/project --read-only',
      'coppice mcp --vault base --http --port 7780 --token-file ~/.coppice-token',
    ],
  },
  async (call) => {
    const port = parsePort(call)
    const choices = { ...createNamespaceChoices(call), vault: await resolveWorkspaceVault(call) }
    await withNamespace(call, choices, async (namespace) => {
      const { createMcpServer } = await import('../../../mcp/index.ts')
      const tools = call.option('tools')?.split(/\s*,\s*/)
      const server = createMcpServer(namespace, {
        version: readVersion(),
        isReadOnly: call.has('read-only'),
        allowsRoots: call.has('allow-roots'),
        ...(tools !== undefined && { tools }),
      })
      await (port === undefined ? serveStdioClient(server, call) : serveHttpClients(server, call, port))
    })
  },
)

function createNamespaceChoices(call: McpInvocation): NamespaceChoices {
  const isReadOnly = call.has('read-only')
  return {
    fork: call.option('fork'),
    allow: call.optionValues('allow').map((directory) => resolve(directory)),
    isReadOnly,
    ...(call.has('no-exec') && { commands: undefined }),
    ...(isReadOnly && { hooks: { preWrite: () => 'everything is read-only here' } }),
  }
}

/** Returns the port to listen on; undefined for stdio. UsageError. */
function parsePort(call: McpInvocation): number | undefined {
  if (!call.has('http')) {
    const alone = (['port', 'token-file'] as const).find((option) => call.has(option))
    if (alone === undefined) return undefined
    throw new UsageError(`--${alone} needs --http`)
  }
  const port = call.countOption('port') ?? DEFAULT_PORT
  if (port > MAX_PORT) throw new UsageError(`--port is at most ${MAX_PORT}, not ${port}`)
  return port
}

async function serveStdioClient(server: McpServer, { terminal }: McpInvocation): Promise<void> {
  const { serveStdio } = await import('../../../mcp/index.ts')
  await serveStdio(server.open, terminal)
}

async function serveHttpClients(server: McpServer, call: McpInvocation, port: number): Promise<void> {
  const { serveHttp } = await import('../../../mcp/index.ts')
  const { signal, err } = call.terminal
  const { token, isNew } = await resolveToken(call.option('token-file'))
  const listening = await serveHttp(server.open, { port, token }).catch((error) => {
    throw isAddressInUse(error)
      ? new CommandError(`the port ${port} is taken; choose another with --port`)
      : error
  })
  try {
    const { url } = listening
    if (call.isJson) await call.output.writeValue({ url, ...(isNew && { token }) })
    else err.write(`listening on ${url}\n${isNew ? `token: ${token}\n` : ''}`)
    await call.output.flush()
    if (!signal.aborted) await once(signal, 'abort')
  } finally {
    await listening.close()
  }
}

function isAddressInUse(error: unknown): boolean {
  return isErrno(error, 'EADDRINUSE')
}
