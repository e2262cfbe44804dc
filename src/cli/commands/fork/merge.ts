import { isMirrorName } from '../../../backends/vault/index.ts'
import { escapeName } from '../../../text/index.ts'
import type { PathChange } from '../../../vfs/index.ts'
import { type OpenHome, withHome } from '../../access/home-access.ts'
import { findLinkedFork } from '../../access/linked-access.ts'
import { type Command, defineCommand } from '../../framework/command.ts'
import type { CommandInvocation } from '../../framework/command-invocation.ts'
import { trace } from '../../framework/common-options.ts'
import { CommandError, type Conflict, exitCodes, findConflicts } from '../../framework/errors.ts'
import { UsageError } from '../../framework/usage-error.ts'
import { formatChangeWithMode, toChangeJson } from '../../render/format-change.ts'
import { formatCount } from '../../render/format-values.ts'

type OnConflict = 'ours' | 'theirs' | 'markers'
const conflictOptions: readonly OnConflict[] = ['ours', 'theirs', 'markers']

export const merge: Command = defineCommand(
  {
    name: 'merge',
    summary: 'Merge a fork into its vault, or into another fork',
    details: `Text files that both sides changed are merged by lines.
If both changed the same lines, nothing is merged and the exit code is 3: merge again with one of the options.
Forks of one directory merge into one another; to write one to its directory use coppice apply.`,
    scope: 'home',
    options: {
      ours: { summary: 'In a conflict, keep the version of the vault' },
      theirs: { summary: 'In a conflict, take the version of the fork' },
      markers: { summary: 'In a conflict, write both versions between markers' },
      'dry-run': { summary: 'Only show what would be merged, or the conflicts' },
      trace,
    },
    arguments: {
      fork: { summary: 'The fork', offers: 'vault' },
      into: {
        summary: 'The vault (default: the one it was forked from)',
        isOptional: true,
        offers: 'vault',
      },
    },
    examples: ['coppice merge task-1', 'coppice merge task-1 base --theirs', 'coppice merge fix-2 fix-1'],
  },
  (call) =>
    withHome(call, async (open) => {
      const fork = call.argument('fork')
      const into = call.optionalArgument('into') ?? (await findOrigin(open, fork))
      const options = { ...parseConflictOption(call), isTrial: call.has('dry-run') }
      try {
        const changes =
          (await mergeLinkedForks(open, fork, into, options)) ??
          (await mergeVaults(open, fork, into, options))
        await printMerged(call, fork, into, changes)
        return exitCodes.ok
      } catch (error) {
        const conflicts = findConflicts(error)
        if (conflicts === undefined || call.isJson) throw error
        call.terminal.err.write(formatConflicts(conflicts, fork, into))
        return exitCodes.conflict
      }
    }),
)

async function findOrigin({ home }: OpenHome, fork: string): Promise<string> {
  const { from } = await home.info(fork)
  if (from !== undefined) return from.vault
  throw new CommandError(`'${fork}' is not a fork; see coppice vault list`)
}

interface MergeChoice {
  readonly onConflict?: OnConflict
  /** True to change nothing. */
  readonly isTrial: boolean
}

async function mergeVaults(
  { home, ctx }: OpenHome,
  fork: string,
  into: string,
  { isTrial, ...options }: MergeChoice,
): Promise<PathChange[]> {
  const { signal: _signal, ...provenance } = ctx
  // The home refuses a merge into what mirrors a directory.
  if (!isTrial || isMirrorName(into)) return home.merge(fork, into, { ...provenance, ...options })
  const { createForkName } = await import('../../../workspace/index.ts')
  const trial = await home.fork(into, createForkName())
  try {
    return await home.merge(fork, trial.name, { ...provenance, ...options })
  } finally {
    await home.deleteVault(trial.name)
  }
}

/** Merges two forks of one directory; undefined if they are no such forks. CommandError. */
async function mergeLinkedForks(
  { home, ctx }: OpenHome,
  fork: string,
  into: string,
  { onConflict, isTrial }: MergeChoice,
): Promise<PathChange[] | undefined> {
  const [source, target] = [await findLinkedFork(home, fork), await findLinkedFork(home, into)]
  if (source === undefined || target === undefined) {
    if (!(await isLinked(home, fork)) && !(await isLinked(home, into))) return undefined
    // The home refuses to merge a fork into what mirrors its directory.
    if (isMirrorName(into)) return undefined
    throw new CommandError(`${fork} and ${into} are not forks of this directory; see coppice forks`)
  }
  if (source.link.path !== target.link.path)
    throw new CommandError(`${fork} and ${into} are forks of different directories`)
  const { signal: _signal, ...provenance } = ctx
  const resolution = onConflict === 'markers' ? 'both' : (onConflict ?? 'fail')
  const changes = await source.link.mergeForks(source.fork, target.fork, {
    ...provenance,
    onConflict: resolution,
    isTrial,
  })
  return changes.map(({ path, before, after }) => ({
    kind: before === undefined ? 'added' : after === undefined ? 'deleted' : 'modified',
    path,
  }))
}

/** True for a fork of any directory. */
async function isLinked(home: OpenHome['home'], name: string): Promise<boolean> {
  const { from } = await home.info(name)
  return from !== undefined && isMirrorName(from.vault)
}

function parseConflictOption(call: CommandInvocation<OnConflict>): { readonly onConflict?: OnConflict } {
  const [answer, second] = conflictOptions.filter((name) => call.has(name))
  if (second !== undefined)
    throw new UsageError(`--${answer} and --${second} exclude each other; leave one out`)
  return answer === undefined ? {} : { onConflict: answer }
}

async function printMerged(
  call: CommandInvocation<'dry-run'>,
  fork: string,
  into: string,
  changes: readonly PathChange[],
): Promise<void> {
  if (call.isJson) {
    await call.output.writeValue({
      fork,
      into,
      dry_run: call.has('dry-run'),
      changes: changes.map(toChangeJson),
    })
    return
  }
  for (const change of changes) await call.output.writeLine(formatChangeWithMode(call.terminal, change))
  const did = call.has('dry-run') ? 'would merge' : 'merged'
  await call.output.writeLine(`${did} ${formatCount(changes.length, 'change')} of ${fork} into ${into}`)
}

function formatConflicts(conflicts: readonly Conflict[], fork: string, into: string): string {
  return `coppice: ${fork} and ${into} both changed ${formatCount(conflicts.length, 'path')}; nothing was merged
${conflicts.map(({ path }) => `  C ${escapeName(path)}\n`).join('')}Merge again with one of:
  coppice merge ${fork} ${into} --ours      keeps what ${into} has
  coppice merge ${fork} ${into} --theirs    takes what ${fork} has
  coppice merge ${fork} ${into} --markers   puts both into the file, to be edited
`
}
