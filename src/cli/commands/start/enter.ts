import { type RunningFork, RunningForks } from '../../../boundary/index.ts'
import { type OpenHome, withHome } from '../../access/home-access.ts'
import {
  assertNotElsewhere,
  findLinkedFork,
  listEnclosingDirectories,
  listLinkedForkNames,
} from '../../access/linked-access.ts'
import { type Command, defineCommand } from '../../framework/command.ts'
import { CommandError } from '../../framework/errors.ts'
import { connectCommand } from './run-connection.ts'
import { runOptions } from './run-options.ts'
import { runAndReport } from './run-report.ts'
import { createRunRequest, placeInDirectory, prepareRun } from './run-request.ts'

const DEFAULT_SHELL = '/bin/sh'
/** Forks that a message names at most. */
const MAX_LISTED = 10

export const enter: Command = defineCommand(
  {
    name: 'enter',
    summary: 'Open a shell in a fork of this directory',
    details: `Without a fork: the one in which a command runs, or the one used last. If a command runs in it, such as a coding
agent, the shell sees the same files at once. Otherwise it starts from the changes of the fork.
The fork keeps the changes; the directory stays unchanged.`,
    scope: 'home',
    options: runOptions,
    arguments: {
      fork: { summary: 'The fork (default: the one used last)', isOptional: true, offers: 'directory-fork' },
      command: {
        summary: 'A program and its arguments, after --, instead of your shell',
        isList: true,
        isOptional: true,
        isAfterDashes: true,
        isForOtherProgram: true,
      },
    },
    examples: ['coppice enter', 'coppice enter fix-1', 'coppice enter fix-1 -- npm test'],
  },
  (call) =>
    withHome(call, async (open) => {
      const { Boundary } = await import('../../../boundary/index.ts')
      const words = call.argumentList('command')
      const argv = words.length > 0 ? words : [process.env['SHELL'] || DEFAULT_SHELL]
      const connection = connectCommand(call)
      const unplaced = createRunRequest(call, { argv }, connection)
      const entered = await findEnteredFork(open, call.optionalArgument('fork'))
      const { directory } = 'running' in entered ? entered.running : entered
      const request = placeInDirectory(unplaced, directory)
      const prepared = await prepareRun(call, open, request, connection)
      const boundary = await Boundary.open(open.home, prepared.redactor)
      const choice = 'running' in entered ? { join: entered.running } : { fork: entered.fork }
      const run = { ...prepared, options: { ...prepared.options, ...choice } }
      const code = await runAndReport(call, open, boundary, run)
      await call.output.flush()
      call.terminal.signal.throwIfAborted()
      return code
    }),
)

/** A fork to enter: one in which a command runs, or one that is only stored. */
type EnteredFork = { readonly directory: string; readonly fork: string } | { readonly running: RunningFork }

/** Finds the named fork, or the one that runs or was used last. CommandError if there is none. */
async function findEnteredFork({ home, path }: OpenHome, name: string | undefined): Promise<EnteredFork> {
  const directories = listEnclosingDirectories()
  const running = RunningForks.of(path)
    .list()
    .filter(({ directory, session }) => directories.includes(directory) && session !== undefined)
    .sort((one, other) => other.since - one.since)
    .find(({ fork }) => name === undefined || fork === name)
  if (running !== undefined) return { running }
  const linked = await findLinkedFork(home, name)
  if (linked !== undefined) return { directory: linked.link.path, fork: linked.fork.name }
  await assertNotElsewhere(home, name)
  const names = (await listLinkedForkNames(home)).slice(0, MAX_LISTED).join(', ')
  const next = names === '' ? 'create one with: coppice exec -- <command>' : `its forks: ${names}`
  throw new CommandError(
    name === undefined
      ? `this directory has no fork; ${next}`
      : `this directory has no fork '${name}'; ${next}`,
  )
}
