import type { DaemonMethods } from '../../server/daemon/client/index.ts'
import { shown } from '../../server/text/index.ts'
import type { Call } from '../call.ts'
import { type Command, command, type Family } from '../command.ts'
import { confirm } from '../confirm.ts'
import { withDaemon } from '../daemon-access.ts'
import { CommandError } from '../errors.ts'
import { table } from '../table.ts'
import { UsageError } from '../usage-error.ts'
import { counted } from '../wording.ts'

type Review = DaemonMethods['mcp_inspect']['result']
type Name = DaemonMethods['mcp_inspect']['params']

const name = { summary: 'The agent and its server, such as reviewer/github' }

const list: Command = command(
  {
    name: 'mcp-servers list',
    summary: 'List the MCP servers that agents have, and what was approved of them',
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
          approved === null ? 'never met' : counted(approved, 'tool'),
          shown(target),
        ])
        await call.output.value(all, table(rows).join('\n') || 'no agent has an MCP server')
      },
      { create: true },
    ),
)

const show: Command = command(
  {
    name: 'mcp-servers show',
    summary: 'Show how what a server says about its tools differs from what was approved',
    details:
      'The server is started for it. What it says is the word of its author, and a model is to read it.',
    scope: 'home',
    arguments: { server: name },
    examples: ['coppice mcp-servers show reviewer/github'],
  },
  (call) =>
    withDaemon(call, async (client) => {
      const review = await client.call('mcp_inspect', named(call), call.terminal.signal)
      await call.output.value(review, await textOf(call, review))
    }),
)

const approve: Command = command(
  {
    name: 'mcp-servers approve',
    summary: 'Let agents use the tools of a server again, whose descriptions have changed',
    details: `Shows what changed and asks. Approved is exactly what was shown: if the server says something else
a moment later, it is refused. What a server says when it is first met is approved with the server itself.`,
    scope: 'home',
    options: { yes: { summary: 'Do not ask', short: 'y' } },
    arguments: { server: name },
    examples: ['coppice mcp-servers approve reviewer/github'],
  },
  (call) =>
    withDaemon(call, async (client) => {
      const { output, terminal } = call
      const server = named(call)
      const review = await client.call('mcp_inspect', server, terminal.signal)
      if (review.state === 'approved') return output.value(review, await textOf(call, review))
      if (!call.isJson) await output.line(await textOf(call, review))
      const question = `Approve what ${call.argument('server')} says about its tools?`
      if (!(await confirm(terminal, question, call.has('yes'))))
        throw new CommandError('nothing was approved')
      await client.call('mcp_approve', { ...server, hash: review.hash }, terminal.signal)
      return output.value(review, `approved ${counted(review.tools, 'tool')} of ${call.argument('server')}`)
    }),
)

export const mcpServers: Family = {
  name: 'mcp-servers',
  summary: 'See and approve what the MCP servers of agents say about their tools',
  commands: [list, show, approve],
}

function named(call: Call<never, 'server'>): Name {
  const [agent, server, ...more] = call.argument('server').split('/')
  if (agent && server && more.length === 0) return { agent, server }
  throw new UsageError(
    '<server> is an agent and its server, such as reviewer/github; coppice mcp-servers list',
  )
}

async function textOf({ terminal }: Call<never, 'server'>, review: Review): Promise<string> {
  // Loaded here and not above: a list does without it.
  const { toolReviewText } = await import('../tool-review-text.ts')
  return toolReviewText(terminal, review)
}
