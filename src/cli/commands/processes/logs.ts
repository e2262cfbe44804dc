import { parsePid, withDaemon } from '../../access/daemon-access.ts'
import { type Command, defineCommand } from '../../framework/command.ts'
import { LogWriter } from '../../render/log-writer.ts'

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
      const writer = new LogWriter(call.output, call.terminal)
      for await (const event of events) await writer.write(event)
      await writer.endLine()
    }),
)
