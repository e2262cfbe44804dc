import { withDaemon } from '../../access/daemon-access.ts'
import { type Command, defineCommand } from '../../framework/command.ts'
import { formatProcessTable } from '../../render/process-format.ts'

export const ps: Command = defineCommand(
  {
    name: 'ps',
    summary: 'List the processes that run',
    details:
      'A process that ran in a daemon that was killed is lost; its fork and its steps are still there.',
    scope: 'home',
    options: { all: { summary: 'Those that have ended too', short: 'a' } },
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
