import { parsePid, withDaemon } from '../../access/daemon-access.ts'
import { type Command, defineCommand } from '../../framework/command.ts'

const signals = ['TERM', 'KILL', 'INT', 'PAUSE', 'RESUME'] as const

export const kill: Command = defineCommand(
  {
    name: 'kill',
    summary: 'Send a signal to processes: end, pause, resume',
    scope: 'home',
    options: {
      signal: { summary: 'Signal (TERM)', short: 's', value: 'name', choices: signals },
    },
    arguments: { pid: { summary: 'Process ids', isList: true } },
    examples: ['coppice kill 3', 'coppice kill --signal PAUSE 3 4', 'coppice kill -s KILL 3'],
  },
  (call) =>
    withDaemon(call, async (client) => {
      const signal = `SIG${call.choiceOption('signal', signals) ?? 'TERM'}` as const
      const pids = call.argumentList('pid').map(parsePid)
      for (const pid of pids) await client.call('kill', { pid, signal }, call.terminal.signal)
      await call.output.writeValue({ signal, pids })
    }),
)
