import { parsePid, withDaemon } from '../../access/daemon-access.ts'
import { type Command, defineCommand } from '../../framework/command.ts'
import { followProcess } from './process-follower.ts'

export const attach: Command = defineCommand(
  {
    name: 'attach',
    summary: 'Show what a process does, and answer its questions, until it has ended',
    details: '^C leaves it at work. The exit code is that of the process.',
    scope: 'home',
    arguments: { pid: { summary: 'The number of the process' } },
    examples: ['coppice attach 3'],
  },
  (call) => withDaemon(call, (client) => followProcess(client, call, parsePid(call.argument('pid')))),
)
