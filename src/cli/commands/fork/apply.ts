import { escapeName } from '../../../text/index.ts'
import { ApplyError, type TreeChange } from '../../../workspace/index.ts'
import { withHome } from '../../access/home-access.ts'
import { findLinkedFork, type OpenLinkedFork } from '../../access/linked-access.ts'
import { type Command, defineCommand } from '../../framework/command.ts'
import type { CommandInvocation } from '../../framework/command-invocation.ts'
import { CommandError, exitCodes, formatErrorLine } from '../../framework/errors.ts'
import { formatChange } from '../../render/format-change.ts'
import { formatCount } from '../../render/format-values.ts'

/** Paths that a message names; it counts the rest. */
const MAX_LISTED = 10

export const apply: Command = defineCommand(
  {
    name: 'apply',
    summary: 'Write the changes of a fork to this directory',
    details: `Writes all changes or none. Forks of this directory come from coppice exec; for a fork of a vault use coppice merge.
If the directory changed at the same paths meanwhile, nothing is written and the exit code is 3.`,
    scope: 'home',
    options: {
      undo: { summary: 'Revert the last apply of this fork' },
      'keep-setuid': { summary: 'Also write setuid and setgid bits' },
    },
    arguments: {
      fork: {
        summary: 'The fork (default: the one used last)',
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
        call.terminal.err.write(formatConflicts(error, fork.name, call.has('undo')))
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
  throw new CommandError(`${what}; create one with: coppice exec -- <command>`)
}

/** Paths where the directory and the fork differ. */
interface UnappliedPaths {
  readonly differing: readonly string[]
  /** Paths whose setuid and setgid bits were not written. */
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
  return `setuid and setgid were not written: ${named}; write them with: coppice apply ${fork} --keep-setuid`
}

/** Explains why nothing was written, from what the directory has now. */
function formatNothingWritten(fork: string, differing: readonly string[]): string {
  if (differing.length === 0) return `nothing was written: this directory already has all changes of ${fork}`
  const paths = differing.slice(0, MAX_LISTED).map(escapeName).join(', ')
  const more = differing.length > MAX_LISTED ? `, and ${differing.length - MAX_LISTED} more` : ''
  return `nothing was written: ${fork} has not changed since its last apply; paths that changed here since: ${paths}${more}`
}

function formatSummary(fork: string, changes: number, isUndone: boolean): string {
  const count = formatCount(changes, 'change')
  if (isUndone) return `undid ${count} of ${fork}; the fork still has them`
  return `wrote ${count} of ${fork} to this directory; undo with: coppice apply ${fork} --undo`
}

function formatConflicts({ conflicts }: ApplyError, fork: string, isUndo: boolean): string {
  const lines = conflicts.map(({ path, reason }) => `  C ${escapeName(path)} ${reason}\n`)
  if (isUndo)
    return `coppice: nothing was written: this directory changed since ${fork} was applied
${lines.join('')}Remove your edits from these files, then run again: coppice apply ${fork} --undo
`
  return `coppice: nothing was written: this directory changed since ${fork} was made
${lines.join('')}Look at its changes with: coppice diff ${fork}
Bring them in by hand with: coppice diff ${fork} | git apply --3way
`
}
