import { parsePid, withDaemon } from '../../access/daemon-access.ts'
import { type Command, defineCommand } from '../../framework/command.ts'
import { followProcess } from './process-follower.ts'

export const attach: Command = defineCommand(
  {
    name: 'attach',
    summary: 'Follow a process and answer its questions',
    details: '^C detaches; the process goes on. Exits with the code of the process.',
    scope: 'home',
    arguments: { pid: { summary: 'The number of the process' } },
    examples: ['coppice attach 3', 'coppice attach 3 --json'],
  },
  (call) => withDaemon(call, (client) => followProcess(client, call, parsePid(call.argument('pid')))),
)
