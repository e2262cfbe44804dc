import { type Command, command } from '../command.ts'
import { pidOf, withDaemon } from '../daemon-access.ts'
import { follow } from '../follow.ts'

export const attach: Command = command(
  {
    name: 'attach',
    summary: 'Show what a process does, and answer its questions, until it has ended',
    details: '^C leaves it at work. The exit code is that of the process.',
    scope: 'home',
    arguments: { pid: { summary: 'The number of the process' } },
    examples: ['coppice attach 3'],
  },
  (call) => withDaemon(call, (client) => follow(client, call, pidOf(call.argument('pid')))),
)
