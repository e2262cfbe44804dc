import { addAbortSignal } from 'node:stream'
import { text } from 'node:stream/consumers'
import type { ToolInfo, ToolResult } from '../../../tools/index.ts'
import { MemoryFs } from '../../../vfs/index.ts'
import { isHomeMissing, resolveHomePath } from '../../access/home-access.ts'
import { resolveWorkspaceVault, withNamespace } from '../../access/namespace-access.ts'
import { type Command, type CommandGroup, defineCommand } from '../../framework/command.ts'
import type { CommandInvocation } from '../../framework/command-invocation.ts'
import { exitCodes } from '../../framework/errors.ts'
import { UsageError } from '../../framework/usage-error.ts'
import { createPrompt } from '../../render/confirm.ts'
import { escapeForTerminal } from '../../render/format-values.ts'
import { formatTable } from '../../render/table.ts'
import { context, fork } from '../shared-options.ts'

/** Argument that stands for standard input. */
const STANDARD_INPUT = '-'

const list: Command = defineCommand(
  {
    name: 'tool list',
    summary: 'List the tools of agents; --json adds schemas',
    details: 'Workspace tools need a vault.',
    scope: 'vault',
    options: { context },
    examples: ['coppice tool list', 'coppice tool list --json'],
  },
  async (call) => {
    const infos = (await listTools(call)).map(({ schema: _schema, ...info }) => info)
    const rows = infos.map(({ name, description }) => [name, description])
    await call.output.writeValue(infos, formatTable(rows).join('\n'))
  },
)

const invoke: Command = defineCommand(
  {
    name: 'tool call',
    summary: 'Call a tool as an agent does',
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
    const args = await readToolArguments(call)
    const [vault, fork] = [await resolveWorkspaceVault(call), call.option('fork')]
    return withNamespace(call, { vault, fork }, async (namespace) => {
      const { signal } = call.terminal
      const trace = call.option('trace') ?? process.env['COPPICE_TRACE']
      const options = { signal, ask: createPrompt(call.terminal), ...(trace && { trace }) }
      return printToolResult(call, await namespace.tools().call(call.argument('name'), args, options))
    })
  },
)

export const tool: CommandGroup = {
  name: 'tool',
  summary: 'List and call the tools of agents',
  commands: [list, invoke],
}

/** Lists the tools; without a home, those of an empty namespace. Creates no home. */
async function listTools(call: CommandInvocation<'context'>): Promise<readonly ToolInfo[]> {
  const vault = await resolveWorkspaceVault(call)
  if (!(await isHomeMissing(await resolveHomePath(call)))) {
    return withNamespace(call, { vault }, async (namespace) => namespace.tools().tools)
  }
  const { createToolRegistry } = await import('../../../tools/index.ts')
  return createToolRegistry(new MemoryFs()).tools
}

/** Prints the result, or a failure to standard error. Returns the exit code. */
async function printToolResult(call: CommandInvocation, result: ToolResult): Promise<number> {
  const { terminal, output } = call
  const text = escapeForTerminal(terminal, result.text)
  if (result.isError && !call.isJson) terminal.err.write(`coppice: ${text}\n`)
  else await output.writeValue(result, text)
  return result.isError ? exitCodes.failed : exitCodes.ok
}

/**
 * Reads the JSON arguments of a tool from an option or standard input; an empty object if none are given. UsageError if
 * they are given twice, or are no JSON.
 */
async function readToolArguments(call: CommandInvocation<'args', 'input'>): Promise<unknown> {
  const given = [call.option('args'), call.option('json'), call.optionalArgument('input')].filter(
    (value) => value !== undefined,
  )
  const [value = '{}', second] = given
  if (second !== undefined)
    throw new UsageError('the arguments were given twice; use one of --args, --json and -')
  const { in: input, signal } = call.terminal
  const json = value === STANDARD_INPUT ? await text(addAbortSignal(signal, input)) : value
  try {
    return JSON.parse(json)
  } catch (error) {
    const problem = error instanceof Error ? error.message : String(error)
    throw new UsageError(`the arguments are not valid JSON: ${problem}; see coppice tool call --help`)
  }
}
