import { withDaemon } from '../../access/daemon-access.ts'
import { type Command, defineCommand } from '../../framework/command.ts'
import { formatProcessTable } from '../../render/process-format.ts'

export const ps: Command = defineCommand(
  {
    name: 'ps',
    summary: 'List running processes',
    details: 'If the daemon is killed, its processes are lost; their forks and steps stay.',
    scope: 'home',
    options: { all: { summary: 'Include processes that have ended', short: 'a' } },
    examples: ['coppice ps', 'coppice ps --all --json'],
  },
  (call) =>
    withDaemon(call, async (client) => {
      const processes = await client.call('ps', { all: call.has('all') }, call.terminal.signal)
      const none = call.has('all')
        ? 'no process has run yet'
        : 'no process runs; --all shows those that have ended'
      await call.output.writeValue(
        processes,
        processes.length === 0 ? none : formatProcessTable(processes).join('\n'),
      )
    }),
)
