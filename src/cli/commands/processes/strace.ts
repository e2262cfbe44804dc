import { parsePid, withDaemon } from '../../access/daemon-access.ts'
import { type Command, defineCommand } from '../../framework/command.ts'
import { formatTraceEvent } from '../../render/process-format.ts'

export const strace: Command = defineCommand(
  {
    name: 'strace',
    summary: 'Show each call of a process to the kernel',
    details: `One line for each: when, which call, with what, what came of it, how long it took; slow ones are marked.
Begins with what is known of the process and goes on until it has ended; without a number, all processes from now on.`,
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
