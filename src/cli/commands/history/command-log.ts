import type { Boundary } from '../../../boundary/index.ts'
import type { NetworkUse } from '../../../network/index.ts'
import { escapeName } from '../../../text/index.ts'
import { createRedactor } from '../../access/command-environment.ts'
import { withHome } from '../../access/home-access.ts'
import type { CommandInvocation } from '../../framework/command-invocation.ts'
import { applyStyle, type Terminal } from '../../framework/terminal.ts'
import { formatBytes, formatTime } from '../../render/format-values.ts'
import { formatDuration } from '../../render/process-format.ts'
import { takeFirst } from '../../render/take-first.ts'

type ExecutedCommand = ReturnType<Boundary['commands']> extends AsyncIterable<infer Item> ? Item : never

const OUTCOME_COLUMN = 9
const DURATION_COLUMN = 7
const NETWORK_INDENT = '    '

/** Prints the commands that ran or were refused, the newest first. */
export function printCommands(call: CommandInvocation, limit: number | undefined): Promise<void> {
  return withHome(call, async ({ home, config }) => {
    const { Boundary } = await import('../../../boundary/index.ts')
    const boundary = await Boundary.open(home, createRedactor(config))
    const commands = takeFirst(filterByVault(boundary.commands(), call.option('vault')), limit)
    await call.output.writeStream(commands, (command) => formatExecuted(call.terminal, command))
  })
}

async function* filterByVault(
  commands: AsyncIterable<ExecutedCommand>,
  vault: string | undefined,
): AsyncGenerator<ExecutedCommand> {
  for await (const command of commands) if (vault === undefined || command.vault === vault) yield command
}

function formatExecuted(terminal: Terminal, executed: ExecutedCommand): string {
  const { time, vault, command } = executed
  const text = 'shell' in command ? command.shell : command.argv.map(quoteArgument).join(' ')
  const [outcome, isFailure] = formatOutcome(executed)
  const duration = executed.event === 'completed' ? formatDuration(executed.duration_ms) : ''
  const line = [
    formatTime(new Date(time)),
    isFailure ? applyStyle(terminal, 'red', outcome.padEnd(OUTCOME_COLUMN)) : outcome.padEnd(OUTCOME_COLUMN),
    duration.padStart(DURATION_COLUMN),
    escapeName(text),
    applyStyle(terminal, 'dim', `(${escapeName(vault)})`),
  ].join(' ')
  const uses = executed.event === 'completed' ? (executed.network ?? []) : []
  return [line, ...uses.map((use) => applyStyle(terminal, 'dim', `${NETWORK_INDENT}${formatUse(use)}`))].join(
    '\n',
  )
}

/** Formats the connections to one host. */
function formatUse({ host, port, decision, connections, bytes_sent, bytes_received }: NetworkUse): string {
  const target = `${escapeName(host)}:${port}`
  const times = connections === 1 ? '' : `, ${connections} connections`
  return decision === 'allowed'
    ? `${target} sent ${formatBytes(bytes_sent)}, received ${formatBytes(bytes_received)}${times}`
    : `${target} ${decision}${times}`
}

function quoteArgument(word: string): string {
  return /^[\w@%+=:,./-]+$/.test(word) ? word : `'${word.replaceAll("'", `'\\''`)}'`
}

function formatOutcome(executed: ExecutedCommand): [text: string, isFailure: boolean] {
  switch (executed.event) {
    case 'requested':
      return ['no end', false]
    case 'refused':
      return ['refused', true]
    case 'failed':
      return ['failed', true]
    case 'completed':
      if (executed.timed_out) return ['timed out', true]
      return executed.exit_code === null
        ? ['killed', true]
        : [`exit ${executed.exit_code}`, executed.exit_code !== 0]
  }
}
