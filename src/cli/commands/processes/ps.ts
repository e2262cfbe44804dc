import { withDaemon } from '../../access/daemon-access.ts'
import { withHome } from '../../access/home-access.ts'
import { findSharedPaths, type SharedPath } from '../../access/process-overlap.ts'
import { type Command, defineCommand } from '../../framework/command.ts'
import type { CommandInvocation } from '../../framework/command-invocation.ts'
import { formatSharedPath } from '../../render/format-values.ts'
import { formatProcessTable, type ProcessInfo } from '../../render/process-format.ts'

export const ps: Command = defineCommand(
  {
    name: 'ps',
    summary: 'List running processes',
    details: `Below a process: paths that others of these processes change too, in their forks.
If the daemon is killed, its processes are lost; their forks and steps stay.`,
    scope: 'home',
    options: { all: { summary: 'Include processes that have ended', short: 'a' } },
    examples: ['coppice ps', 'coppice ps --all --json'],
  },
  (call) =>
    withDaemon(call, async (client) => {
      const processes = await client.call('ps', { all: call.has('all') }, call.terminal.signal)
      const none = call.has('all')
        ? 'no process has run yet'
        : 'no process runs; --all shows those that have ended'
      const listed = await addSharedPaths(call, processes)
      await call.output.writeValue(listed, listed.length === 0 ? none : formatListed(listed).join('\n'))
    }),
)

type ListedProcess = ProcessInfo & { readonly shared: readonly SharedPath[] }

/** Adds the paths that several of these processes change. */
async function addSharedPaths(
  call: CommandInvocation,
  processes: readonly ProcessInfo[],
): Promise<ListedProcess[]> {
  const forks = processes.flatMap(({ fork }) => fork ?? [])
  const shared =
    forks.length < 2 ? undefined : await withHome(call, ({ home }) => findSharedPaths(home, forks))
  return processes.map((process) => ({ ...process, shared: shared?.get(process.fork ?? '') ?? [] }))
}

function formatListed(processes: readonly ListedProcess[]): string[] {
  const [head = '', ...rows] = formatProcessTable(processes)
  const lines = rows.flatMap((row, index) => [row, ...(processes[index]?.shared ?? []).map(formatSharedPath)])
  return [head, ...lines]
}
