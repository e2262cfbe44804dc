import { parsePid, withDaemon } from '../../access/daemon-access.ts'
import { type Command, defineCommand } from '../../framework/command.ts'

const names = ['TERM', 'KILL', 'INT', 'PAUSE', 'RESUME'] as const
const signals = [...names, ...names.map((name) => `SIG${name}` as const)] as const

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
      const chosen = call.choiceOption('signal', signals) ?? 'TERM'
      const [name = 'TERM'] = names.filter((each) => chosen.endsWith(each))
      const signal = `SIG${name}` as const
      const pids = call.argumentList('pid').map(parsePid)
      for (const pid of pids) await client.call('kill', { pid, signal }, call.terminal.signal)
      await call.output.writeValue({ signal, pids })
    }),
)
