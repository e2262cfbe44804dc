import { parsePid, withDaemon } from '../../access/daemon-access.ts'
import { type Command, defineCommand } from '../../framework/command.ts'

export const message: Command = defineCommand(
  {
    name: 'message',
    summary: 'Send a text to a running process',
    details:
      'The process reads it with the tool messages, which it is offered from its next step on. Its log shows the text.',
    scope: 'home',
    arguments: {
      pid: { summary: 'The number of the process' },
      text: { summary: 'Text of the message' },
    },
    examples: ['coppice message 3 "skip the slow tests"', 'coppice logs 3'],
  },
  (call) =>
    withDaemon(call, async (client) => {
      const to = parsePid(call.argument('pid'))
      const request = { to, text: call.argument('text') }
      const path = '/dev/children/send_message'
      await client.call('call', { path, request }, call.terminal.signal)
      await call.output.writeValue({ pid: to, text: request.text })
    }),
)
