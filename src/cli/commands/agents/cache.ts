import { withZones } from '../../access/namespace-access.ts'
import { type Command, type CommandGroup, defineCommand } from '../../framework/command.ts'
import type { CommandOption } from '../../framework/command-definition.ts'
import { formatBytes, formatCount, formatTime } from '../../render/format-values.ts'
import { formatTable } from '../../render/table.ts'

const DAY_MS = 24 * 60 * 60 * 1000

const contextOption: CommandOption = { summary: 'Only of this context', value: 'name', offers: 'context' }

const list: Command = defineCommand(
  {
    name: 'cache list',
    summary: 'List cached long outputs of tools, oldest first',
    scope: 'home',
    options: { context: contextOption },
    examples: ['coppice cache list', 'coppice cache list --context planner --json'],
  },
  (call) =>
    withZones(call, async ({ cache: outputs }) => {
      const entries = await outputs.list(call.option('context'))
      const rows = entries.map(({ time, bytes, uri }) => [formatTime(time), formatBytes(bytes), uri])
      await call.output.writeValue(entries, formatTable(rows).join('\n'))
    }),
)

const clear: Command = defineCommand(
  {
    name: 'cache clear',
    summary: 'Remove cached outputs of tools',
    details: 'Outputs also expire by themselves, after tool_cache_max_age_days of config.toml (7).',
    scope: 'home',
    options: {
      context: contextOption,
      'older-than': { summary: 'Only outputs older than this', value: 'days' },
    },
    examples: ['coppice cache clear', 'coppice cache clear --context planner --older-than 1'],
  },
  (call) =>
    withZones(call, async ({ cache: outputs }) => {
      const days = call.countOption('older-than')
      const limit = days === undefined ? undefined : new Date(Date.now() - days * DAY_MS)
      const removed = await outputs.clear(call.option('context'), limit)
      await call.output.writeValue({ removed }, `removed ${formatCount(removed, 'output')}`)
    }),
)

export const cache: CommandGroup = {
  name: 'cache',
  summary: 'List and clear cached outputs of tools',
  commands: [list, clear],
}
