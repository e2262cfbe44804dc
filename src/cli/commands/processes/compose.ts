import { readFile } from 'node:fs/promises'
import { dirname, resolve } from 'node:path'
import type { ComposedAgent } from '../../../compose/index.ts'
import type { DaemonClient } from '../../../daemon/client/index.ts'
import { isErrno } from '../../../machine/index.ts'
import { escapeText } from '../../../text/index.ts'
import { withDaemon } from '../../access/daemon-access.ts'
import { resolveWorkspaceVault } from '../../access/namespace-access.ts'
import { type Command, type CommandGroup, defineCommand } from '../../framework/command.ts'
import type { CommandInvocation } from '../../framework/command-invocation.ts'
import { CommandError } from '../../framework/errors.ts'
import { type ProcessInfo, truncateText } from '../../render/process-format.ts'
import { formatTable } from '../../render/table.ts'
import { readScript } from './spawn.ts'

const DEFAULT_FILE = 'coppice-compose.yaml'
const RESULT_CHARACTERS = 80

const up: Command = defineCommand(
  {
    name: 'compose up',
    summary: 'Run the processes of a file in dependency order',
    details: `The file has agents by name, each with an intent, and perhaps agent, provider, model, budget, skills,
tools, max_steps, groups, script, depends_on and from. Each process gets the results and starts from the merged files of those
it depends on, or of those that from names. A conflict of their files fails it, with the paths.
If one fails, its dependents are skipped and the exit code is 1.
Processes with the same name under groups are signalled as one: coppice kill --group NAME.`,
    scope: 'vault',
    arguments: {
      file: { summary: `A YAML file (${DEFAULT_FILE})`, isOptional: true, offers: 'file' },
    },
    examples: ['coppice compose up', 'coppice compose up release.yaml --vault base'],
  },
  async (call) => {
    const file = resolve(call.optionalArgument('file') ?? DEFAULT_FILE)
    const { compose, parseComposition } = await import('../../../compose/index.ts')
    const composition = parseComposition(file, await readCompositionFile(file))
    const vault = composition.vault ?? (await resolveWorkspaceVault(call))
    return withDaemon(
      call,
      async (client) => {
        const outcomes = await compose(composition, (name, agent, forks) => {
          const groups = [...(composition.groups ?? []), ...(agent.groups ?? [])]
          const vaults = forks.length > 0 ? forks : [vault]
          return runProcess(call, client, { name, agent: { ...agent, groups }, vaults, file })
        })
        const rows = outcomes.map(({ name, state, pid, fork, result, reason }) => [
          name,
          state,
          pid === null ? '-' : String(pid),
          fork ?? '-',
          truncateText(
            escapeText(state === 'done' ? result : reason).replaceAll('\n', ' '),
            RESULT_CHARACTERS,
          ),
        ])
        await call.output.writeValue(outcomes, formatTable(rows).join('\n'))
        return outcomes.every(({ state }) => state === 'done') ? 0 : 1
      },
      { create: true },
    )
  },
)

interface ComposedProcess {
  readonly name: string
  readonly agent: ComposedAgent
  /** Vaults to start from; the changes of the others are merged into a fork of the first. */
  readonly vaults: readonly (string | undefined)[]
  readonly file: string
}

async function runProcess(
  { terminal }: CommandInvocation,
  client: DaemonClient,
  { name, agent, vaults, file }: ComposedProcess,
): Promise<ProcessInfo> {
  const { depends_on: _, from: __, script, ...spawn } = agent
  const [vault, ...others] = vaults
  const merge = others.filter((fork) => fork !== undefined)
  const played = script === undefined ? {} : { script: await readScript(resolve(dirname(file), script)) }
  const { pid } = await client.call('spawn', { ...spawn, ...played, vault, merge }, terminal.signal)
  if (terminal.showsProgress) terminal.err.write(`${name} is process ${pid}\n`)
  return client.call('wait', { pid }, terminal.signal)
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
