import type { BoundaryRunOptions } from '../../../boundary/index.ts'
import type { PublishedPort } from '../../../network/index.ts'
import { formatApproval } from '../../../text/index.ts'
import { findCommandTerminal } from '../../framework/command-terminal.ts'
import { confirmAfterShowing, withSignal } from '../../render/confirm.ts'
import { OutputForwarder } from './output-forwarder.ts'
import type { RunInvocation } from './run-options.ts'

/** The terminal of a command, or its input and output, and what is done when it opens a port. */
export type RunConnection = Pick<BoundaryRunOptions, 'terminal' | 'stdin' | 'onOutput' | 'isHeard' | 'onPort'>

/** Connects a command to the terminal, or its input and output to those of this program. */
export function connectCommand(call: RunInvocation): RunConnection {
  const terminal = call.isJson ? undefined : findCommandTerminal(call.terminal)
  if (terminal === undefined) return connectStreams(call)
  return { terminal, onPort: (port) => terminal.announce(formatPort(port)) }
}

/** Connects the input and output of a command to those of this program. */
export function connectStreams(call: RunInvocation): RunConnection {
  const { inputDescriptor: stdin } = call.terminal
  return {
    ...(stdin !== undefined && { stdin }),
    // With --json the output is part of the result.
    ...(!call.isJson && forwardOutput(call)),
    onPort: (port) => call.terminal.err.write(`${formatPort(port)}\n`),
  }
}

function formatPort({ port, url, address }: PublishedPort): string {
  return `coppice: port ${port} is open at ${url} (other protocols: ${address})`
}

function forwardOutput({ terminal }: RunInvocation): Pick<BoundaryRunOptions, 'onOutput' | 'isHeard'> {
  const output = new OutputForwarder(terminal)
  return { onOutput: output.write.bind(output), isHeard: output.isOpen.bind(output) }
}

/**
 * Creates the question for a command that needs approval; none if nobody can be asked.
 * @param count number of runs at the same time, each in a fork of its own
 */
export function createApprovalOptions(
  { terminal }: RunInvocation,
  count: number,
): Pick<BoundaryRunOptions, 'ask' | 'asksToReadOutside'> {
  if (!terminal.canAsk) return {}
  const runs = count === 1 ? '' : ` ${count} times`
  return {
    asksToReadOutside: true,
    ask: async (decision, request, withdrawn) => {
      const asked = withSignal(terminal, withdrawn)
      const lines = formatApproval(request, decision)
      return (await confirmAfterShowing(asked, lines, `Let it run${runs}?`)) ? 'yes' : 'declined'
    },
  }
}
