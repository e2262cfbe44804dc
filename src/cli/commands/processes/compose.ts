import { readFile } from 'node:fs/promises'
import { resolve } from 'node:path'
import type { ComposeOutcome } from '../../../compose/index.ts'
import { isErrno } from '../../../machine/index.ts'
import { escapeText } from '../../../text/index.ts'
import { resolveProcessWorkspace } from '../../access/agent-workspace.ts'
import { withDaemon } from '../../access/daemon-access.ts'
import { type Command, type CommandGroup, defineCommand } from '../../framework/command.ts'
import { CommandError } from '../../framework/errors.ts'
import { formatHomeCommand, type HintTarget } from '../../framework/hint.ts'
import { truncateText } from '../../render/process-format.ts'
import { formatTable } from '../../render/table.ts'
import { ComposedProcesses } from './composed-processes.ts'
import { formatNextSteps } from './process-follower.ts'

const DEFAULT_FILE = 'coppice-compose.yaml'
const RESULT_CHARACTERS = 80

const up: Command = defineCommand(
  {
    name: 'compose up',
    summary: 'Run the processes of a file in dependency order',
    details: `The file has agents by name, each with an intent, and perhaps agent, provider, model, budget, skills,
tools, max_steps, groups, script, depends_on and from. Each works on a fork of this directory, of which nothing is
imported, or with --vault of a vault. It gets the results and starts from the merged files of those it depends on, or
of those that from names. A conflict of their files fails it, with the paths.
If one fails, its dependents are skipped and the exit code is 1.
A supervisor has a strategy (one_for_one, one_for_all or rest_for_one) and children in place of an intent, and perhaps
max_restarts (3), within (60 seconds), groups, depends_on and from. Each child has an intent, the options above, and
restart: transient (after a failure; the default), permanent or temporary (never). When all children are done, the
files of their last runs are merged. After too many restarts it fails: max_restarts_exceeded.
^C leaves the processes running and names them. coppice kill ends one, that of a supervisor with its children.
Processes with the same name under groups are signalled as one: coppice kill --group NAME.`,
    scope: 'vault',
    arguments: {
      file: { summary: `A YAML file (${DEFAULT_FILE})`, isOptional: true, offers: 'file' },
    },
    examples: ['coppice compose up', 'coppice compose up release.yaml --vault base'],
  },
  async (call) => {
    const file = resolve(call.optionalArgument('file') ?? DEFAULT_FILE)
    const { compose, listFinalOutcomes, parseComposition } = await import('../../../compose/index.ts')
    const composition = parseComposition(file, await readCompositionFile(file))
    const workspace = composition.vault ?? (await resolveProcessWorkspace(call))
    return withDaemon(
      call,
      async (client) => {
        const processes = new ComposedProcesses(call, client, { composition, file, workspace })
        const outcomes = await compose(composition, (name, node, forks) => processes.run(name, node, forks))
        processes.throwIfInterrupted()
        const hints = [
          ...outcomes.flatMap((outcome) => formatFailureHint(call, outcome)),
          ...listFinalOutcomes(composition, outcomes).flatMap((outcome) =>
            formatHint(call, outcome, workspace),
          ),
        ]
        await call.output.writeValue(outcomes, [...formatOutcomes(outcomes), ...hints].join('\n'))
        return outcomes.every(({ state }) => state === 'done') ? 0 : 1
      },
      { create: true },
    )
  },
)

function formatOutcomes(outcomes: readonly ComposeOutcome[]): string[] {
  return formatTable(
    outcomes.map(({ name, state, pid, fork, result, reason }) => [
      name,
      state,
      pid === null ? '-' : String(pid),
      fork ?? '-',
      truncateText(escapeText(state === 'done' ? result : reason).replaceAll('\n', ' '), RESULT_CHARACTERS),
    ]),
  )
}

/** Formats how to find out why a process failed. */
function formatFailureHint(target: HintTarget, { name, state, pid, reason }: ComposeOutcome): string[] {
  if (state !== 'failed') return []
  // A process that did not start has no log. The table may have only the beginning of its reason.
  if (pid === null) return [`${name} failed: ${escapeText(reason).replaceAll('\n', ' ')}`]
  return [`${name} failed; see ${formatHomeCommand(target, 'logs', String(pid))}`]
}

/** Formats how to see and keep the work of a process, if it has a fork. */
function formatHint(
  target: HintTarget,
  { name, fork }: ComposeOutcome,
  workspace: string | undefined,
): string[] {
  if (fork === null || workspace === undefined) return []
  const next = formatNextSteps(target, fork, { vault: workspace, into: workspace })
  return [`the work of ${name} is in ${fork}; ${next}`]
}

async function readCompositionFile(file: string): Promise<string> {
  try {
    return await readFile(file, 'utf8')
  } catch (error) {
    if (isErrno(error, 'ENOENT')) {
      throw new CommandError(`there is no file ${file}; name one: coppice compose up <file>`)
    }
    throw error
  }
}

export const compose: CommandGroup = {
  name: 'compose',
  summary: 'Run processes that depend on one another',
  commands: [up],
}
