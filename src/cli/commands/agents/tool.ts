import { addAbortSignal } from 'node:stream'
import { text } from 'node:stream/consumers'
import { readConfig } from '../../../config/index.ts'
import type { Namespace } from '../../../namespace/index.ts'
import type { ToolInfo, ToolResult } from '../../../tools/index.ts'
import { MemoryFs } from '../../../vfs/index.ts'
import { chooseAgentWorkspace, formatForkNotice, toNamespaceChoices } from '../../access/agent-workspace.ts'
import { isHomeMissing, resolveHomePath } from '../../access/home-access.ts'
import { withNamespace } from '../../access/namespace-access.ts'
import { type Command, type CommandGroup, defineCommand } from '../../framework/command.ts'
import type { CommandInvocation } from '../../framework/command-invocation.ts'
import { exitCodes, formatErrorLine } from '../../framework/errors.ts'
import { UsageError } from '../../framework/usage-error.ts'
import { createPrompt } from '../../render/confirm.ts'
import { escapeForTerminal } from '../../render/format-values.ts'
import { formatTable } from '../../render/table.ts'
import { context, fork } from '../shared-options.ts'

/** As `coppice forks` shows it. */
const PROGRAM = 'coppice tool'
const NEXT_STEP = 'call the tool in a project, or name a vault with --vault'
/** Argument that stands for standard input. */
const STANDARD_INPUT = '-'

const list: Command = defineCommand(
  {
    name: 'tool list',
    summary: 'List the tools of agents; --json adds schemas',
    details: 'Workspace tools need a project directory, or a vault.',
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
    details: `/workspace is a fork of this directory, of which nothing is imported, or with --vault a vault.
Each call makes a new fork, or continues the one of --fork. One without changes is gone at the end.
The arguments are a JSON object: after the name, in --args, in --json, or on standard input with -.
With --json the answer is JSON, too: text, isError, error and cached. A tool that fails has exit code 1.`,
    scope: 'change',
    options: {
      args: { summary: 'The arguments; - reads standard input', value: 'object' },
      json: { summary: 'The arguments, and print JSON', value: 'object' },
      context,
      fork: { ...fork, summary: 'Work in this fork of the directory or vault, created if missing' },
    },
    arguments: {
      name: { summary: 'The tool', offers: 'tool' },
      input: { summary: 'The arguments; - reads standard input', isOptional: true },
    },
    examples: [
      `coppice tool call write_file --args '{"path": "vfs:///shared/tasks.md", "content": "- [ ] plan"}'`,
      `coppice tool call vfs_list --json '{"path": "vfs:///shared"}'`,
      'coppice tool call file_edit - < edit.json',
      `coppice tool call shell_exec --fork task-1 --args '{"command": "npm test"}'`,
    ],
  },
  async (call) => {
    const args = await readToolArguments(call)
    const fork = call.option('fork')
    const workspace = await chooseAgentWorkspace(call, fork)
    return withNamespace(call, toNamespaceChoices(workspace, fork, PROGRAM), async (namespace) => {
      const { signal } = call.terminal
      const trace = call.option('trace') ?? process.env['COPPICE_TRACE']
      const options = { signal, ask: createPrompt(call.terminal), ...(trace && { trace }) }
      const result = await namespace.tools().call(call.argument('name'), args, options)
      const exitCode = await printToolResult(call, result)
      if (fork === undefined && workspace.directory !== undefined)
        await printNewFork(call, namespace, workspace.directory)
      if (result.isError && workspace.problem !== undefined && namespace.workspace === undefined)
        call.terminal.err.write(
          formatErrorLine(`${workspace.problem}, so there is no workspace; ${NEXT_STEP}`),
        )
      return exitCode
    })
  },
)

export const tool: CommandGroup = {
  name: 'tool',
  summary: 'List and call the tools of agents',
  commands: [list, invoke],
}

/** Lists the tools; without a home, those of an empty namespace. Creates no home, and no fork of the directory. */
async function listTools(call: CommandInvocation<'context'>): Promise<readonly ToolInfo[]> {
  const home = await resolveHomePath(call)
  // Reports mistakes of the configuration also where there is no store yet.
  await readConfig(home)
  const { vault, directory } = await chooseAgentWorkspace(call)
  const { commandTools, createToolRegistry, getToolInfo, workspaceTools } = await import(
    '../../../tools/index.ts'
  )
  const tools = isHomeMissing(home)
    ? createToolRegistry(new MemoryFs()).tools
    : await withNamespace(call, { vault }, async (namespace) => namespace.tools().tools)
  return directory === undefined
    ? tools
    : [...tools, ...[...workspaceTools, ...commandTools].map(getToolInfo)]
}

/** Prints the new fork of a directory if the call changed something; without changes, the fork is gone at the end. */
async function printNewFork(
  { terminal }: CommandInvocation,
  { workspace }: Namespace,
  directory: string,
): Promise<void> {
  for await (const _change of workspace?.diff() ?? []) {
    terminal.err.write(formatForkNotice(workspace?.name ?? '', directory))
    return
  }
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
  if (second !== undefined) throw new UsageError('the arguments were given twice; use one of them')
  const { in: input, signal } = call.terminal
  const json = value === STANDARD_INPUT ? await text(addAbortSignal(signal, input)) : value
  try {
    return JSON.parse(json)
  } catch (error) {
    const problem = error instanceof Error ? error.message : String(error)
    throw new UsageError(`the arguments are not valid JSON: ${problem}; see coppice tool call --help`)
  }
}
