import { readFile } from 'node:fs/promises'
import { dirname, resolve } from 'node:path'
import type { ComposedAgent } from '../../server/compose/index.ts'
import type { DaemonClient } from '../../server/daemon/client/index.ts'
import { escapedText } from '../../server/text/index.ts'
import type { Call } from '../call.ts'
import { type Command, command, type Family } from '../command.ts'
import { withDaemon } from '../daemon-access.ts'
import { CommandError } from '../errors.ts'
import { workspaceVault } from '../namespace-access.ts'
import { cut, type ProcessStatus } from '../process-text.ts'
import { table } from '../table.ts'
import { scriptOf } from './spawn.ts'

const DEFAULT_FILE = 'coppice-compose.yaml'
const RESULT_CHARACTERS = 80

const up: Command = command(
  {
    name: 'compose up',
    summary: 'Run the processes of a file, each when those it depends on are done',
    details: `The file has agents by name, each with an intent, and perhaps agent, provider, model, budget, skills,
max_steps, script and depends_on. What a process says is told to those that depend on it.
Processes that depend on one that failed are skipped; the exit code is 1 then.`,
    scope: 'vault',
    arguments: {
      file: { summary: `A YAML file (${DEFAULT_FILE})`, isOptional: true, offers: 'file' },
    },
    examples: ['coppice compose up', 'coppice compose up release.yaml --vault base'],
  },
  async (call) => {
    const file = resolve(call.given('file') ?? DEFAULT_FILE)
    const { compose, parseComposition } = await import('../../server/compose/index.ts')
    const composition = parseComposition(file, await textOf(file))
    const vault = composition.vault ?? (await workspaceVault(call))
    return withDaemon(
      call,
      async (client) => {
        const outcomes = await compose(composition, (name, agent) =>
          runOne(call, client, { name, agent, vault, file }),
        )
        const rows = outcomes.map(({ name, state, pid, fork, result, reason }) => [
          name,
          state,
          pid === null ? '-' : String(pid),
          fork ?? '-',
          cut(escapedText(state === 'done' ? result : reason).replaceAll('\n', ' '), RESULT_CHARACTERS),
        ])
        await call.output.value(outcomes, table(rows).join('\n'))
        return outcomes.every(({ state }) => state === 'done') ? 0 : 1
      },
      { create: true },
    )
  },
)

interface Started {
  readonly name: string
  readonly agent: ComposedAgent
  readonly vault: string | undefined
  readonly file: string
}

async function runOne(
  { terminal }: Call,
  client: DaemonClient,
  { name, agent, vault, file }: Started,
): Promise<ProcessStatus> {
  const { depends_on: _, script, ...spawn } = agent
  const played = script === undefined ? {} : { script: await scriptOf(resolve(dirname(file), script)) }
  const { pid } = await client.call('spawn', { ...spawn, ...played, vault }, terminal.signal)
  if (terminal.showsProgress) terminal.err.write(`${name} is process ${pid}\n`)
  return client.call('wait', { pid }, terminal.signal)
}

async function textOf(file: string): Promise<string> {
  try {
    return await readFile(file, 'utf8')
  } catch (error) {
    if (error instanceof Error && 'code' in error && error.code === 'ENOENT') {
      throw new CommandError(`there is no file ${file}; name one: coppice compose up <file>`)
    }
    throw error
  }
}

export const compose: Family = {
  name: 'compose',
  summary: 'Run processes that depend on one another',
  commands: [up],
}
