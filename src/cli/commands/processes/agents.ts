import type { CatalogEntry } from '../../../agents/index.ts'
import { escapeName } from '../../../text/index.ts'
import { withCatalog } from '../../access/agent-catalog.ts'
import { type Command, defineCommand } from '../../framework/command.ts'
import { formatTable } from '../../render/table.ts'

export const agents: Command = defineCommand(
  {
    name: 'agents',
    summary: 'List the agents',
    details: `An agent is agents/<name>/agent.yaml with instructions.md, in the home or built in.`,
    scope: 'home',
    examples: ['coppice agents', 'coppice agents --json'],
  },
  (call) =>
    withCatalog(call, async (catalog) => {
      const all = await catalog.agents()
      await call.output.writeValue(all, formatListing(all) || 'there are no agents')
    }),
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
    withCatalog(call, async (catalog) => {
      const all = await catalog.skills()
      await call.output.writeValue(all, formatListing(all) || 'there are no skills')
    }),
)

function formatListing(entries: readonly CatalogEntry[]): string {
  const rows = entries.map(({ name, origin, description, problem }) => [
    name,
    origin,
    escapeName(problem === undefined ? description : `unusable: ${problem}`),
  ])
  return formatTable(rows).join('\n')
}
