import { parsePid, withDaemon } from '../../access/daemon-access.ts'
import { type Command, defineCommand } from '../../framework/command.ts'
import { printOutcome } from './process-follower.ts'

export const wait: Command = defineCommand(
  {
    name: 'wait',
    summary: 'Wait for a process and print its result',
    details: 'The exit code is that of the process: 0 done, 1 failed, 2 out of budget.',
    scope: 'home',
    arguments: { pid: { summary: 'The number of the process' } },
    examples: ['coppice wait 3', 'coppice wait 3 --json'],
  },
  (call) =>
    withDaemon(call, async (client) => {
      const pid = parsePid(call.argument('pid'))
      return printOutcome(call, await client.call('wait', { pid }, call.terminal.signal))
    }),
)
