import { parsePid, withDaemon } from '../../access/daemon-access.ts'
import { type Command, defineCommand } from '../../framework/command.ts'
import { formatTraceEvent } from '../../render/process-format.ts'

export const strace: Command = defineCommand(
  {
    name: 'strace',
    summary: 'Trace the kernel calls of a process',
    details: `One line a call: time, name, arguments, result, duration; slow calls are marked.
Prints past calls, then follows until the process ends; without a number, follows all processes.`,
    scope: 'home',
    arguments: { pid: { summary: 'The number of the process', isOptional: true } },
    examples: ['coppice strace 3', 'coppice strace', 'coppice strace 3 --json | jq .call'],
  },
  (call) =>
    withDaemon(call, async (client) => {
      const given = call.optionalArgument('pid')
      const params = { pid: given === undefined ? undefined : parsePid(given), follow: true }
      const events = client.stream('strace', params, call.terminal.signal)
      const text = (event: Parameters<typeof formatTraceEvent>[0]) =>
        formatTraceEvent(event, call.terminal, { showsPid: given === undefined })
      await call.output.writeStream(events, text, { isLive: true })
    }),
)
