import { parsePid, withDaemon } from '../../access/daemon-access.ts'
import { type Command, defineCommand } from '../../framework/command.ts'
import { formatLogEvent } from '../../render/process-format.ts'

export const logs: Command = defineCommand(
  {
    name: 'logs',
    summary: 'Show the log of a process',
    details: 'The daemon keeps the logs of recent processes; coppice steps has the full history.',
    scope: 'home',
    options: { follow: { summary: 'Follow until the process ends', short: 'f' } },
    arguments: { pid: { summary: 'The number of the process' } },
    examples: ['coppice logs 3', 'coppice logs 3 --follow'],
  },
  (call) =>
    withDaemon(call, async (client) => {
      const params = { pid: parsePid(call.argument('pid')), follow: call.has('follow') }
      const events = client.stream('logs', params, call.terminal.signal)
      await call.output.writeStream(events, formatLogEvent, { isLive: true })
    }),
)
