import type { DaemonMethods } from '../../../daemon/client/index.ts'
import { escapeName } from '../../../text/index.ts'
import { parsePid, withDaemon } from '../../access/daemon-access.ts'
import { type Command, defineCommand } from '../../framework/command.ts'
import type { Terminal } from '../../framework/terminal.ts'
import { UsageError } from '../../framework/usage-error.ts'
import { escapeForTerminal, formatTime } from '../../render/format-values.ts'
import { formatTable } from '../../render/table.ts'

type Step = DaemonMethods['get_step_detail']['result']

export const steps: Command = defineCommand(
  {
    name: 'steps',
    summary: 'Show the steps of a process, or one step',
    details:
      'A step has the prompt, the response and the tool calls. Steps stay in the home; secrets are redacted.',
    scope: 'home',
    arguments: {
      pid: { summary: 'The number of the process' },
      step: { summary: 'The number of a step', isOptional: true },
    },
    examples: ['coppice steps 3', 'coppice steps 3 2', 'coppice steps 3 2 --json'],
  },
  (call) =>
    withDaemon(call, async (client) => {
      const { output, terminal } = call
      const pid = parsePid(call.argument('pid'))
      const given = call.optionalArgument('step')
      if (given !== undefined) {
        const step = await client.call(
          'get_step_detail',
          { pid, step: parseStepNumber(given) },
          terminal.signal,
        )
        return output.writeValue(step, formatStep(step, terminal))
      }
      const all = await client.call('list_steps', { pid }, terminal.signal)
      const rows = all.map(({ step_number, timestamp, tokens_used, summary }) => [
        String(step_number),
        formatTime(new Date(timestamp)),
        String(tokens_used),
        escapeName(summary),
      ])
      const text = formatTable([['STEP', 'TIME', 'TOKENS', 'WHAT'], ...rows]).join('\n')
      return output.writeValue(all, all.length === 0 ? 'the process has made no step yet' : text)
    }),
)

function listCallParts({
  tool_path,
  tool_input,
  tool_result,
  tool_error,
}: NonNullable<Step['tool_calls']>[number]): (readonly [string, string])[] {
  return [
    ['tool', tool_path === '' ? '' : `${tool_path} ${tool_input}`],
    ['result', tool_result],
    ['error', tool_error],
  ]
}

function formatStep(step: Step, terminal: Terminal): string {
  const parts: readonly (readonly [string, string])[] = [
    ...step.messages.map(({ role, content }) => [role, content] as const),
    ['model', [step.provider, step.model].filter((part) => part).join(' ')],
    ['answer', step.raw_response],
    ...(step.tool_calls ?? [step]).flatMap(listCallParts),
  ]
  return parts
    .filter(([, text]) => text !== '')
    .map(([title, text]) => `${title}: ${escapeForTerminal(terminal, text)}`)
    .join('\n')
}

function parseStepNumber(text: string): number {
  if (/^[1-9]\d{0,9}$/.test(text)) return Number(text)
  throw new UsageError(`'${text}' is not the number of a step; coppice steps <pid> lists them`)
}
