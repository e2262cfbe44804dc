import type { DaemonMethods } from '../../../daemon/client/index.ts'
import { escapeName } from '../../../text/index.ts'
import { withDaemon } from '../../access/daemon-access.ts'
import { type Command, type CommandGroup, defineCommand } from '../../framework/command.ts'
import type { CommandInvocation } from '../../framework/command-invocation.ts'
import { CommandError } from '../../framework/errors.ts'
import { formatHomeCommand } from '../../framework/hint.ts'
import { UsageError } from '../../framework/usage-error.ts'
import { confirm } from '../../render/confirm.ts'
import { formatCount } from '../../render/format-values.ts'
import { formatTable } from '../../render/table.ts'

type Review = DaemonMethods['mcp_inspect']['result']
type ServerName = DaemonMethods['mcp_inspect']['params']

const serverArgument = { summary: 'The agent and its server, such as reviewer/github' }

const list: Command = defineCommand(
  {
    name: 'mcp-servers list',
    summary: 'List the MCP servers of agents and their approvals',
    scope: 'home',
    examples: ['coppice mcp-servers list', 'coppice mcp-servers list --json'],
  },
  (call) =>
    withDaemon(
      call,
      async (client) => {
        const all = await client.call('mcp_servers', {}, call.terminal.signal)
        const rows = all.map(({ agent, server, approved, target }) => [
          `${agent}/${server}`,
          approved === null ? 'never met' : formatCount(approved, 'tool'),
          escapeName(target),
        ])
        await call.output.writeValue(all, formatTable(rows).join('\n') || 'no agent has an MCP server')
      },
      { create: true },
    ),
)

const show: Command = defineCommand(
  {
    name: 'mcp-servers show',
    summary: 'Compare the tools of a server with the approved ones',
    details: 'Starts the server. Its descriptions come from its author, and models read them: review them.',
    scope: 'home',
    arguments: { server: serverArgument },
    examples: ['coppice mcp-servers show reviewer/github', 'coppice mcp-servers show reviewer/github --json'],
  },
  (call) =>
    withDaemon(call, async (client) => {
      const review = await client.call('mcp_inspect', parseServerName(call), call.terminal.signal)
      await call.output.writeValue(review, await formatReview(call, review))
    }),
)

const approve: Command = defineCommand(
  {
    name: 'mcp-servers approve',
    summary: 'Approve the changed tool descriptions of a server',
    details: `Shows the changes and asks. The approval covers exactly what was shown; later changes are refused.
The first descriptions of a server are approved together with the server.`,
    scope: 'home',
    options: { yes: { summary: 'Do not ask', short: 'y' } },
    arguments: { server: serverArgument },
    examples: [
      'coppice mcp-servers approve reviewer/github',
      'coppice mcp-servers approve reviewer/github --yes',
    ],
  },
  (call) =>
    withDaemon(call, async (client) => {
      const { output, terminal } = call
      const server = parseServerName(call)
      const review = await client.call('mcp_inspect', server, terminal.signal)
      if (review.state === 'approved') return output.writeValue(review, await formatReview(call, review))
      if (!call.isJson) await output.writeLine(await formatReview(call, review))
      const question = `Approve the tool descriptions of ${call.argument('server')}?`
      if (!(await confirm(terminal, question, call.has('yes'))))
        throw new CommandError('nothing was approved')
      await client.call('mcp_approve', { ...server, hash: review.hash }, terminal.signal)
      return output.writeValue(
        review,
        `approved ${formatCount(review.tools, 'tool')} of ${call.argument('server')}`,
      )
    }),
)

export const mcpServers: CommandGroup = {
  name: 'mcp-servers',
  summary: 'Review and approve the tools of MCP servers',
  commands: [list, show, approve],
}

function parseServerName(call: CommandInvocation<never, 'server'>): ServerName {
  const [agent, server, ...more] = call.argument('server').split('/')
  if (agent && server && more.length === 0) return { agent, server }
  throw new UsageError(
    `<server> has the form <agent>/<server>, such as reviewer/github; see ${formatHomeCommand(call, 'mcp-servers', 'list')}`,
  )
}

async function formatReview(
  { terminal }: CommandInvocation<never, 'server'>,
  review: Review,
): Promise<string> {
  // Loaded on use: listing does not need it.
  const { formatToolReview } = await import('./format-tool-review.ts')
  return formatToolReview(terminal, review)
}
