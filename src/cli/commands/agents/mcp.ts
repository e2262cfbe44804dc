import { once } from 'node:events'
import { resolve } from 'node:path'
import { isErrno } from '../../../machine/index.ts'
import type { McpServer } from '../../../mcp/index.ts'
import {
  type AgentWorkspace,
  chooseAgentWorkspace,
  formatForkNotice,
  toNamespaceChoices,
} from '../../access/agent-workspace.ts'
import { type NamespaceChoices, withNamespace } from '../../access/namespace-access.ts'
import { type Command, defineCommand } from '../../framework/command.ts'
import type { CommandInvocation } from '../../framework/command-invocation.ts'
import { CommandError } from '../../framework/errors.ts'
import { UsageError } from '../../framework/usage-error.ts'
import { readVersion } from '../../package-root.ts'
import { context, fork } from '../shared-options.ts'
import { resolveToken } from './mcp-token.ts'

const DEFAULT_PORT = 7780
const MAX_PORT = 65_535
/** Name of this program, as `coppice forks` shows it. */
const PROGRAM = 'coppice mcp'

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
/workspace is a fork of this directory, of which nothing is imported: it stays as it is until you run coppice apply.
Each start makes a new fork, or continues the one of --fork. One without changes is gone at the end.
With --vault, /workspace is that vault, or with --fork a fork of it.
Beside it there are /shared, /home/<context> and the mounts of config.toml.
Commands run through the boundary of coppice exec; what it gates, the client asks you about.
Other files of this machine are out of reach unless --allow or --allow-roots says otherwise.
Over HTTP a client sends the header Authorization: Bearer <token>. Each start makes a token and shows it,
unless --token-file or $COPPICE_MCP_TOKEN has one.`,
    scope: 'vault',
    options: {
      fork: { ...fork, summary: 'Work in this fork of the directory or vault, created if missing' },
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
      'coppice mcp',
      'coppice mcp --fork task-1',
      'coppice mcp --vault base --fork task-1 --context alice',
      'coppice mcp --allow ~/project --read-only',
      'coppice mcp --vault base --http --port 7780 --token-file ~/.coppice-token',
    ],
  },
  async (call) => {
    const port = parsePort(call)
    const workspace = await chooseAgentWorkspace(call, call.option('fork'))
    const choices = {
      ...createNamespaceChoices(call),
      ...toNamespaceChoices(workspace, call.option('fork'), PROGRAM),
    }
    await withNamespace(call, choices, async (namespace) => {
      const { createMcpServer } = await import('../../../mcp/index.ts')
      const tools = call.option('tools')?.split(/\s*,\s*/)
      const server = createMcpServer(namespace, {
        version: readVersion(),
        isReadOnly: call.has('read-only'),
        allowsRoots: call.has('allow-roots'),
        ...(tools !== undefined && { tools }),
      })
      const served = { server, name: namespace.workspace?.name ?? null }
      if (port === undefined) {
        printWorkspace(call, workspace, served)
        await serveStdioClient(server, call)
      } else
        await serveHttpClients(call, served, {
          port,
          onListen: () => printWorkspace(call, workspace, served),
        })
    })
  },
)

function createNamespaceChoices(call: McpInvocation): NamespaceChoices {
  const isReadOnly = call.has('read-only')
  return {
    allow: call.optionValues('allow').map((directory) => resolve(directory)),
    isReadOnly,
    ...(call.has('no-exec') && { commands: undefined }),
    ...(isReadOnly && { hooks: { preWrite: () => 'everything is read-only here' } }),
  }
}

/** A server, and the name of its vault or fork. */
interface ServedWorkspace {
  readonly server: McpServer
  readonly name: string | null
}

/** Prints which fork the client works in, or why there is none. */
function printWorkspace(
  { terminal }: McpInvocation,
  { directory, problem, vault }: AgentWorkspace,
  { name }: ServedWorkspace,
): void {
  if (problem !== undefined) {
    const found = vault === undefined ? 'there is no workspace' : `the workspace is the vault ${vault}`
    terminal.err.write(
      `coppice: ${problem}, so ${found}; start coppice mcp in a project, or name a vault with --vault\n`,
    )
  } else if (directory !== undefined && name !== null) {
    terminal.err.write(formatForkNotice(name, directory))
  }
}

/**
 * Returns the port to listen on; undefined for stdio. UsageError for an option without --http, or too large a port.
 */
function parsePort(call: McpInvocation): number | undefined {
  if (!call.has('http')) {
    const httpOption = (['port', 'token-file'] as const).find((option) => call.has(option))
    if (httpOption === undefined) return undefined
    throw new UsageError(`--${httpOption} needs --http`)
  }
  const port = call.countOption('port') ?? DEFAULT_PORT
  if (port > MAX_PORT) throw new UsageError(`--port is at most ${MAX_PORT}, not ${port}`)
  return port
}

async function serveStdioClient(server: McpServer, { terminal }: McpInvocation): Promise<void> {
  const { serveStdio } = await import('../../../mcp/index.ts')
  await serveStdio(server.open, terminal)
}

async function serveHttpClients(
  call: McpInvocation,
  { server, name }: ServedWorkspace,
  { port, onListen }: { readonly port: number; readonly onListen: () => void },
): Promise<void> {
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
    if (call.isJson) await call.output.writeValue({ url, ...(isNew && { token }), workspace: name })
    else err.write(`listening on ${url}\n${isNew ? `token: ${token}\n` : ''}`)
    if (!call.isJson) onListen()
    await call.output.flush()
    if (!signal.aborted) await once(signal, 'abort')
  } finally {
    await listening.close()
  }
}

function isAddressInUse(error: unknown): boolean {
  return isErrno(error, 'EADDRINUSE')
}
