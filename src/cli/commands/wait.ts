import { type Command, command } from '../command.ts'
import { pidOf, withDaemon } from '../daemon-access.ts'
import { ended } from '../follow.ts'

export const wait: Command = command(
  {
    name: 'wait',
    summary: 'Wait for the end of a process, and print its result',
    details: 'The exit code is that of the process: 0 done, 1 failed, 2 out of budget.',
    scope: 'home',
    arguments: { pid: { summary: 'The number of the process' } },
    examples: ['coppice wait 3', 'coppice wait 3 --json'],
  },
  (call) =>
    withDaemon(call, async (client) => {
      const pid = pidOf(call.argument('pid'))
      return ended(call, await client.call('wait', { pid }, call.terminal.signal))
    }),
)
