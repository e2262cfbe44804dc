import { parsePid, withDaemon } from '../../access/daemon-access.ts'
import { type Command, defineCommand } from '../../framework/command.ts'
import { formatHomeCommand } from '../../framework/hint.ts'
import { UsageError } from '../../framework/usage-error.ts'

const names = ['TERM', 'KILL', 'INT', 'PAUSE', 'RESUME'] as const
const signals = [...names, ...names.map((name) => `SIG${name}` as const)] as const

export const kill: Command = defineCommand(
  {
    name: 'kill',
    summary: 'Send a signal to processes: end, pause, resume',
    scope: 'home',
    options: {
      signal: { summary: 'Signal (TERM)', short: 's', value: 'name', choices: signals },
      group: { summary: 'Signal all processes of this group, with their children', value: 'name' },
    },
    arguments: { pid: { summary: 'The numbers of processes', isList: true, isOptional: true } },
    examples: [
      'coppice kill 3',
      'coppice kill --signal PAUSE 3 4',
      'coppice kill -s KILL 3',
      'coppice kill --group release',
    ],
  },
  (call) =>
    withDaemon(call, async (client) => {
      const chosen = call.choiceOption('signal', signals) ?? 'TERM'
      const [name = 'TERM'] = names.filter((each) => chosen.endsWith(each))
      const signal = `SIG${name}` as const
      const pids = call.argumentList('pid').map(parsePid)
      const group = call.option('group')
      if (pids.length === 0 && group === undefined)
        throw new UsageError(
          `name the numbers of processes, or a --group; see ${formatHomeCommand(call, 'ps')}`,
        )
      for (const pid of pids) await client.call('kill', { pid, signal }, call.terminal.signal)
      const members =
        group === undefined ? [] : await client.call('kill_group', { group, signal }, call.terminal.signal)
      await call.output.writeValue({ signal, pids: [...pids, ...members] })
    }),
)
