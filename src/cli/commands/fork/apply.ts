import { escapeName } from '../../../text/index.ts'
import { ApplyError, type TreeChange } from '../../../workspace/index.ts'
import { withHome } from '../../access/home-access.ts'
import { findLinkedFork, type OpenLinkedFork } from '../../access/linked-access.ts'
import { type Command, defineCommand } from '../../framework/command.ts'
import type { CommandInvocation } from '../../framework/command-invocation.ts'
import { CommandError, exitCodes, formatErrorLine } from '../../framework/errors.ts'
import { formatChange } from '../../render/format-change.ts'
import { formatCount } from '../../render/format-values.ts'

/** How many paths are named before the rest is only counted. */
const MAX_LISTED = 10

export const apply: Command = defineCommand(
  {
    name: 'apply',
    summary: 'Write the changes of a fork to this directory, all of them or none',
    details: `The fork is one that coppice exec made here; changes of a fork of a vault are brought in with coppice merge.
If anything of it was changed here meanwhile, nothing is written and the exit code is 3.`,
    scope: 'home',
    options: {
      undo: { summary: 'Take back what was written last from this fork' },
      'keep-setuid': { summary: 'Write setuid and setgid of files, too' },
    },
    arguments: {
      fork: {
        summary: 'The fork; the one that was used last when absent',
        isOptional: true,
        offers: 'vault',
      },
    },
    examples: ['coppice apply', 'coppice apply project-1', 'coppice apply --undo'],
  },
  (call) =>
    withHome(call, async ({ home, ctx }) => {
      const { link, fork } = await requireLinkedFork(
        call,
        await findLinkedFork(home, call.optionalArgument('fork')),
      )
      try {
        const changes = call.has('undo')
          ? await link.undo(fork, ctx)
          : await link.apply(fork, { ...ctx, keepSetuid: call.has('keep-setuid') })
        const isIdle = changes.length === 0 && !call.has('undo')
        const withheld = call.has('undo') ? [] : (await link.listChanges(fork)).map(({ path }) => path)
        const differing = isIdle && withheld.length === 0 ? await link.listDifferingPaths(fork) : []
        await printApplied(call, fork.name, changes, { differing, setuidLeftOut: withheld })
        if (withheld.length > 0)
          call.terminal.err.write(formatErrorLine(formatWithheldBits(fork.name, withheld)))
        return exitCodes.ok
      } catch (error) {
        if (!(error instanceof ApplyError) || call.isJson) throw error
        call.terminal.err.write(formatConflicts(error, fork.name))
        return exitCodes.conflict
      }
    }),
)

async function requireLinkedFork(
  call: CommandInvocation<'undo' | 'keep-setuid', 'fork'>,
  found: OpenLinkedFork | undefined,
): Promise<OpenLinkedFork> {
  if (found !== undefined) return found
  const name = call.optionalArgument('fork')
  const what =
    name === undefined ? 'there is no fork of this directory' : `'${name}' is not a fork of this directory`
  throw new CommandError(`${what}; coppice exec -- <command> makes one`)
}

/** The paths at which the directory is not what the fork has. */
interface UnappliedPaths {
  readonly differing: readonly string[]
  /** Those of which setuid and setgid were not written. */
  readonly setuidLeftOut: readonly string[]
}

async function printApplied(
  call: CommandInvocation<'undo' | 'keep-setuid', 'fork'>,
  fork: string,
  changes: readonly TreeChange[],
  { differing, setuidLeftOut }: UnappliedPaths,
): Promise<void> {
  const shownChanges = changes.map(
    ({ path, before, after }) =>
      ({
        kind: before === undefined ? 'added' : after === undefined ? 'deleted' : 'modified',
        path,
      }) as const,
  )
  if (call.isJson) {
    await call.output.writeValue({
      fork,
      undone: call.has('undo'),
      changes: shownChanges,
      differing,
      setuidLeftOut,
    })
    return
  }
  for (const change of shownChanges) await call.output.writeLine(formatChange(call.terminal, change))
  if (changes.length === 0 && !call.has('undo'))
    await call.output.writeLine(formatNothingWritten(fork, differing))
  else await call.output.writeLine(formatSummary(fork, changes.length, call.has('undo')))
}

function formatWithheldBits(fork: string, paths: readonly string[]): string {
  const named = paths.slice(0, MAX_LISTED).join(', ')
  return `setuid and setgid were not written: ${named}; coppice apply ${fork} --keep-setuid writes them`
}

/** Why nothing was written. What is claimed of the directory is what it has now, not what was once applied. */
function formatNothingWritten(fork: string, differing: readonly string[]): string {
  if (differing.length === 0) return `this directory has all that ${fork} changed; nothing was written`
  const paths = differing.slice(0, MAX_LISTED).map(escapeName).join(', ')
  const more = differing.length > MAX_LISTED ? `, and ${differing.length - MAX_LISTED} more` : ''
  return `nothing was written: ${fork} has no change since it was applied; changed here since then: ${paths}${more}`
}

function formatSummary(fork: string, changes: number, isUndone: boolean): string {
  const count = formatCount(changes, 'change')
  if (isUndone) return `took back ${count} of ${fork}; it still has them`
  return `wrote ${count} of ${fork} to this directory; coppice apply ${fork} --undo takes them back`
}

function formatConflicts({ conflicts }: ApplyError, fork: string): string {
  const lines = conflicts.map(({ path, reason }) => `  C ${escapeName(path)} ${reason}\n`)
  return `coppice: nothing was written, since this directory is not what ${fork} began from
${lines.join('')}Look at its changes with: coppice diff ${fork}
Bring them in by hand with: coppice diff ${fork} | git apply --3way
`
}
