import { parsePid, withDaemon } from '../../access/daemon-access.ts'
import { type Command, defineCommand } from '../../framework/command.ts'
import { followProcess } from './process-follower.ts'

export const resume: Command = defineCommand(
  {
    name: 'resume',
    summary: 'Make a paused or interrupted process go on',
    details: `A paused process goes on as it is. One that failed, was ended by a signal or was lost with the daemon goes on as a new
process: with its conversation and its files after its last step.`,
    scope: 'home',
    options: { follow: { summary: 'Show its log until it ends', short: 'f' } },
    arguments: { pid: { summary: 'The number of the process' } },
    examples: ['coppice resume 3', 'coppice resume 3 --follow'],
  },
  (call) =>
    withDaemon(call, async (client) => {
      const oldPid = parsePid(call.argument('pid'))
      const resumed = await client.call('resume', { pid: oldPid }, call.terminal.signal)
      const { pid, fork } = resumed
      if (call.has('follow')) return followProcess(client, call, pid)
      const text =
        pid === oldPid
          ? `process ${pid} goes on`
          : `process ${pid} goes on for ${oldPid}${fork === null ? '' : ` in ${fork}`}`
      await call.output.writeValue(resumed, text)
      return 0
    }),
)
