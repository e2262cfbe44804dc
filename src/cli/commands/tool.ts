import { addAbortSignal } from 'node:stream'
import { text } from 'node:stream/consumers'
import type { ToolInfo, ToolResult } from '../../tools/index.ts'
import { MemoryFs } from '../../vfs/index.ts'
import type { Call } from '../call.ts'
import { type Command, command, type Family } from '../command.ts'
import { asker } from '../confirm.ts'
import { exitCodes } from '../errors.ts'
import { homePath, isNoHome } from '../home-access.ts'
import { withNamespace, workspaceVault } from '../namespace-access.ts'
import { table } from '../table.ts'
import { UsageError } from '../usage-error.ts'
import { shownContent } from '../wording.ts'
import { context, fork } from './shared-options.ts'

/** In place of a text: take it from standard input. */
const STANDARD_INPUT = '-'

const list: Command = command(
  {
    name: 'tool list',
    summary: 'List the tools an agent can call; --json has their schemas',
    details: 'Those of the workspace appear when there is a vault to work in.',
    scope: 'vault',
    options: { context },
    examples: ['coppice tool list', 'coppice tool list --json'],
  },
  async (call) => {
    const infos = (await knownTools(call)).map(({ schema: _schema, ...info }) => info)
    const rows = infos.map(({ name, description }) => [name, description])
    await call.output.value(infos, table(rows).join('\n'))
  },
)

const invoke: Command = command(
  {
    name: 'tool call',
    summary: 'Call a tool as an agent would, and print what it would read',
    details: `The arguments are a JSON object: in --args, in --json, or on standard input with -.
With --json the answer is JSON, too: text, isError, error and cached. A tool that fails has exit code 1.`,
    scope: 'change',
    options: {
      args: { summary: 'The arguments; - reads standard input', value: 'object' },
      json: { summary: 'The arguments, and print JSON', value: 'object' },
      context,
      fork,
    },
    arguments: {
      name: { summary: 'The tool', offers: 'tool' },
      input: {
        summary: '- reads the arguments from standard input',
        isOptional: true,
        choices: [STANDARD_INPUT],
      },
    },
    examples: [
      `coppice tool call write_file --args '{"path": "vfs:///shared/tasks.md", "content": "- [ ] plan"}'`,
      `coppice tool call vfs_list --json '{"path": "vfs:///shared"}'`,
      'coppice tool call file_edit - < edit.json',
      `coppice tool call shell_exec --args '{"command": "npm test"}'`,
    ],
  },
  async (call) => {
    const args = await argumentsOf(call)
    const [vault, fork] = [await workspaceVault(call), call.text('fork')]
    return withNamespace(call, { vault, fork }, async (namespace) => {
      const { signal } = call.terminal
      const trace = call.text('trace') ?? process.env['COPPICE_TRACE']
      const options = { signal, ask: asker(call.terminal), ...(trace && { trace }) }
      return render(call, await namespace.tools().call(call.argument('name'), args, options))
    })
  },
)

export const tool: Family = {
  name: 'tool',
  summary: 'List the tools of agents, and call them',
  commands: [list, invoke],
}

/** The tools there are; those of any namespace where there is no home yet, since a list makes none. */
async function knownTools(call: Call<'context'>): Promise<readonly ToolInfo[]> {
  const vault = await workspaceVault(call)
  if (!(await isNoHome(homePath(call)))) {
    return withNamespace(call, { vault }, async (namespace) => namespace.tools().tools)
  }
  const { agentTools } = await import('../../tools/index.ts')
  return agentTools(new MemoryFs()).tools
}

/** What the agent would read; a failure on standard error, as that of any command. Returns the exit code. */
async function render(call: Call, result: ToolResult): Promise<number> {
  const { terminal, output } = call
  const text = shownContent(terminal, result.text)
  if (result.isError && !call.isJson) terminal.err.write(`coppice: ${text}\n`)
  else await output.value(result, text)
  return result.isError ? exitCodes.failed : exitCodes.ok
}

/** The JSON object that was given, wherever. UsageError. */
async function argumentsOf(call: Call<'args', 'input'>): Promise<unknown> {
  const given = [call.text('args'), call.text('json'), call.given('input')].filter(
    (value) => value !== undefined,
  )
  const [value = '{}', second] = given
  if (second !== undefined) throw new UsageError('the arguments are there twice; give --args, --json or -')
  const { in: input, signal } = call.terminal
  const json = value === STANDARD_INPUT ? await text(addAbortSignal(signal, input)) : value
  try {
    return JSON.parse(json)
  } catch (error) {
    const problem = error instanceof Error ? error.message : String(error)
    throw new UsageError(`the arguments are not valid JSON: ${problem}; see coppice tool call --help`)
  }
}
