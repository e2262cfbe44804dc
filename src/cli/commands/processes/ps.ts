import { escapeName } from '../../../text/index.ts'
import { withDaemon } from '../../access/daemon-access.ts'
import { withHome } from '../../access/home-access.ts'
import { findSharedPaths, type SharedPath } from '../../access/process-overlap.ts'
import { type Command, defineCommand } from '../../framework/command.ts'
import type { CommandInvocation } from '../../framework/command-invocation.ts'
import { formatSharedPath } from '../../render/format-values.ts'
import { formatProcessTable, type ProcessInfo } from '../../render/process-format.ts'
import type { ProcessQuestions } from './process-follower.ts'

export const ps: Command = defineCommand(
  {
    name: 'ps',
    summary: 'List running processes',
    details: `Below a process: the question that it asks, and paths that others of these processes change too, in their forks.
If the daemon is killed, its processes are lost; their forks and steps stay.`,
    scope: 'home',
    options: { all: { summary: 'Include processes that have ended', short: 'a' } },
    examples: ['coppice ps', 'coppice ps --all --json'],
  },
  (call) =>
    withDaemon(call, async (client) => {
      const { signal } = call.terminal
      const processes = await client.call('ps', { all: call.has('all') }, signal)
      const asked = await client.call('questions', {}, signal)
      const none = call.has('all')
        ? 'no process has run yet'
        : 'no process runs; --all shows those that have ended'
      const listed = (await addSharedPaths(call, processes)).map((process) => ({
        ...process,
        asks: asked.filter(({ pid }) => pid === process.pid),
      }))
      await call.output.writeValue(listed, listed.length === 0 ? none : formatListed(listed).join('\n'))
    }),
)

type SharingProcess = ProcessInfo & { readonly shared: readonly SharedPath[] }
type ListedProcess = SharingProcess & { readonly asks: readonly ProcessQuestions[] }

/** Adds the paths that several of these processes change. */
async function addSharedPaths(
  call: CommandInvocation,
  processes: readonly ProcessInfo[],
): Promise<SharingProcess[]> {
  const forks = processes.flatMap(({ fork }) => fork ?? [])
  const shared =
    forks.length < 2 ? undefined : await withHome(call, ({ home }) => findSharedPaths(home, forks))
  return processes.map((process) => ({ ...process, shared: shared?.get(process.fork ?? '') ?? [] }))
}

function formatListed(processes: readonly ListedProcess[]): string[] {
  const [head = '', ...rows] = formatProcessTable(processes)
  const lines = rows.flatMap((row, index) => [row, ...formatBelow(processes[index])])
  return [head, ...lines]
}

function formatBelow({ asks = [], shared = [] }: Partial<ListedProcess> = {}): string[] {
  const questions = asks.map(
    ({ id, questions: [first, ...more] }) =>
      `  asks: ${escapeName(first?.question ?? '')}${more.length === 0 ? '' : ` and ${more.length} more`}; coppice answer ${id} …`,
  )
  return [...questions, ...shared.map(formatSharedPath)]
}
