import { realpathSync } from 'node:fs'
import { homedir } from 'node:os'
import { join } from 'node:path'
import {
  createHookCommands,
  getHookFile,
  getHookProgram,
  type HookCommands,
  HookFile,
  type HookProgram,
  hookProgramNames,
} from '../../../agent-hooks/index.ts'
import { isTooWide } from '../../access/enclosing-project.ts'
import { resolveHomePath } from '../../access/home-access.ts'
import { type Command, type CommandGroup, defineCommand } from '../../framework/command.ts'
import type { CommandInvocation } from '../../framework/command-invocation.ts'
import { UsageError } from '../../framework/usage-error.ts'
import { packageRoot } from '../../package-root.ts'
import { formatTable } from '../../render/table.ts'

const program = { summary: 'The program of the agent', choices: hookProgramNames } as const
const project = { summary: 'Only in this directory, instead of all your projects' } as const

const install: Command = defineCommand(
  {
    name: 'hooks install',
    summary: 'Let an agent report its prompts and calls',
    details: `Adds commands to the program's own configuration and keeps the rest. A copy of the file stays beside it.
From its next session on, coppice timeline lists what it did, and coppice undo undoes it.
With --worktrees, claude --worktree <name> works in a fork: it has all files of the project, also node_modules and .env.`,
    scope: 'home',
    options: {
      project,
      worktrees: { summary: "Serve the agent's worktrees by mounted forks (claude)" },
    },
    arguments: { program },
    examples: [
      'coppice hooks install claude',
      'coppice hooks install claude --worktrees',
      'coppice hooks install codex --project',
    ],
  },
  async (call) => {
    if (call.has('project') && isTooWide(realpathSync(process.cwd())))
      throw new UsageError(
        '--project is for the directory of a project; leave it out to install the hooks for all projects',
      )
    const { file, hookProgram } = openHookFile(call)
    const home = await resolveHomePath(call)
    const otherHome = home === join(homedir(), '.coppice') ? undefined : home
    const worktrees = call.has('worktrees')
    if (worktrees && hookProgram.worktreeEvents === undefined)
      throw new UsageError(`--worktrees is for claude; ${hookProgram.title} has no hooks for worktrees`)
    const words = [process.execPath, join(packageRoot, 'bin/coppice.js')]
    const commands = createHookCommands(words, hookProgram, { home: otherHome, worktrees })
    const isChanged = file.install(commands)
    const lines = [
      isChanged
        ? `${hookProgram.title} reports its calls from its next session on (${file.path})`
        : `${hookProgram.title} has the hooks already (${file.path})`,
      ...(hookProgram.next !== undefined && isChanged ? [hookProgram.next] : []),
      ...(worktrees
        ? ['Its worktrees are forks: claude --worktree <name>, then coppice diff, coppice apply']
        : []),
      'Look at what it did with: coppice timeline; undo it with: coppice undo',
    ]
    const { record: command, worktree = null } = commands
    await call.output.writeValue(
      { program: hookProgram.name, file: file.path, command, worktree, changed: isChanged },
      lines.join('\n'),
    )
  },
)

const remove: Command = defineCommand(
  {
    name: 'hooks remove',
    summary: 'Take the hooks out of a program again',
    details: 'Removes what hooks install added, and nothing else. What was recorded stays.',
    scope: 'home',
    options: { project },
    arguments: { program },
    examples: ['coppice hooks remove claude', 'coppice hooks remove codex --project'],
  },
  async (call) => {
    const { file, hookProgram } = openHookFile(call)
    const isChanged = file.remove()
    const text = isChanged
      ? `removed the hooks of ${hookProgram.title} from ${file.path}`
      : `${file.path} has no hooks of coppice`
    await call.output.writeValue({ program: hookProgram.name, file: file.path, changed: isChanged }, text)
  },
)

const list: Command = defineCommand(
  {
    name: 'hooks list',
    summary: 'List the programs that report their calls',
    scope: 'home',
    examples: ['coppice hooks list', 'coppice hooks list --json'],
  },
  async (call) => {
    const found = hookProgramNames.flatMap((name) => {
      const hookProgram = getHookProgram(name)
      return [undefined, realpathSync(process.cwd())].map((directory) => describeFile(hookProgram, directory))
    })
    const shown = found.filter(({ place, installed }) => place === 'you' || installed)
    const rows = shown.map(({ program: name, place, state, file }) => [name, place, state, file])
    await call.output.writeValue(
      shown,
      formatTable([['program', 'for', 'hooks', 'file'], ...rows]).join('\n'),
    )
  },
)

/** `coppice hooks …`: report the calls of agents that run outside. */
export const hooks: CommandGroup = {
  name: 'hooks',
  summary: 'Record what agents do outside of forks, for undo',
  commands: [install, remove, list],
}

function openHookFile(call: CommandInvocation<'project' | 'worktrees', 'program'>): {
  readonly file: HookFile
  readonly hookProgram: HookProgram
} {
  const name = hookProgramNames.find((candidate) => candidate === call.argument('program'))
  if (name === undefined) throw new UsageError(`<program> is one of ${hookProgramNames.join(', ')}`)
  const hookProgram = getHookProgram(name)
  const directory = call.has('project') ? realpathSync(process.cwd()) : undefined
  return { file: new HookFile(findFile(hookProgram, directory), hookProgram), hookProgram }
}

function findFile(hookProgram: HookProgram, directory: string | undefined): string {
  const { directoryVariable } = hookProgram
  const configDirectory = directoryVariable === undefined ? undefined : process.env[directoryVariable]
  return getHookFile(
    hookProgram,
    { userDirectory: homedir(), configDirectory: configDirectory || undefined },
    directory,
  )
}

function describeFile(hookProgram: HookProgram, directory: string | undefined) {
  const file = findFile(hookProgram, directory)
  const commands = new HookFile(file, hookProgram).findCommands()
  return {
    program: hookProgram.name,
    place: directory === undefined ? 'you' : 'this directory',
    installed: commands !== undefined,
    worktrees: commands?.worktree !== undefined,
    state: formatState(commands),
    file,
  }
}

function formatState(commands: HookCommands | undefined): string {
  if (commands === undefined) return '-'
  return commands.worktree === undefined ? 'installed' : 'installed, worktrees'
}
