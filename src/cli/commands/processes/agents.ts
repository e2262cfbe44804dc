import type { DaemonMethods } from '../../../daemon/client/index.ts'
import { escapeName } from '../../../text/index.ts'
import { withDaemon } from '../../access/daemon-access.ts'
import { type Command, defineCommand } from '../../framework/command.ts'
import { formatTable } from '../../render/table.ts'

type ListedAgent = DaemonMethods['agents']['result'][number]

export const agents: Command = defineCommand(
  {
    name: 'agents',
    summary: 'List the agents',
    details: `An agent is agents/<name>/agent.yaml with instructions.md, in the home or built in.`,
    scope: 'home',
    examples: ['coppice agents', 'coppice agents --json'],
  },
  (call) =>
    withDaemon(
      call,
      async (client) => {
        const all = await client.call('agents', {}, call.terminal.signal)
        await call.output.writeValue(all, formatListing(all) || 'there are no agents')
      },
      { create: true },
    ),
)

export const skills: Command = defineCommand(
  {
    name: 'skills',
    summary: 'List the skills',
    details: `A skill is skills/<name>/SKILL.md, in the home or built in: the Agent Skills format.`,
    scope: 'home',
    examples: ['coppice skills', 'coppice skills --json'],
  },
  (call) =>
    withDaemon(
      call,
      async (client) => {
        const all = await client.call('skills', {}, call.terminal.signal)
        await call.output.writeValue(all, formatListing(all) || 'there are no skills')
      },
      { create: true },
    ),
)

function formatListing(entries: readonly ListedAgent[]): string {
  const rows = entries.map(({ name, origin, description, problem }) => [
    name,
    origin,
    escapeName(problem === undefined ? description : `unusable: ${problem}`),
  ])
  return formatTable(rows).join('\n')
}
