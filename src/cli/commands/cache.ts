import { type Command, command, type Family } from '../command.ts'
import type { Option } from '../definition.ts'
import { withZones } from '../namespace-access.ts'
import { table } from '../table.ts'
import { bytesText, counted, timeText } from '../wording.ts'

const DAY_MS = 24 * 60 * 60 * 1000

const context: Option = { summary: 'Only of this context', value: 'name', offers: 'context' }

const list: Command = command(
  {
    name: 'cache list',
    summary: 'List the outputs of tools that were too long to hand out, the oldest first',
    scope: 'home',
    options: { context },
    examples: ['coppice cache list', 'coppice cache list --context planner --json'],
  },
  (call) =>
    withZones(call, async ({ cache: outputs }) => {
      const kept = await outputs.list(call.text('context'))
      const rows = kept.map(({ time, bytes, uri }) => [timeText(time), bytesText(bytes), uri])
      await call.output.value(kept, table(rows).join('\n'))
    }),
)

const clear: Command = command(
  {
    name: 'cache clear',
    summary: 'Remove outputs of tools that were kept',
    details: 'They also go by themselves, after tool_cache_max_age_days of config.toml (7).',
    scope: 'home',
    options: {
      context,
      'older-than': { summary: 'Only those that are older', value: 'days' },
    },
    examples: ['coppice cache clear', 'coppice cache clear --context planner --older-than 1'],
  },
  (call) =>
    withZones(call, async ({ cache: outputs }) => {
      const days = call.count('older-than')
      const limit = days === undefined ? undefined : new Date(Date.now() - days * DAY_MS)
      const removed = await outputs.clear(call.text('context'), limit)
      await call.output.value({ removed }, `removed ${counted(removed, 'output')}`)
    }),
)

export const cache: Family = {
  name: 'cache',
  summary: 'Look after the long outputs of tools',
  commands: [list, clear],
}
