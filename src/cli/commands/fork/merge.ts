import { escapeName } from '../../../text/index.ts'
import type { PathChange } from '../../../vfs/index.ts'
import { type OpenHome, withHome } from '../../access/home-access.ts'
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
    summary: 'Merge the changes of a fork into its vault',
    details: `Text files that both sides changed are merged by lines.
If both changed the same lines, nothing is merged and the exit code is 3: merge again with one of the options.
For a fork of a directory use coppice apply.`,
    scope: 'home',
    options: {
      ours: { summary: 'In a conflict, keep the version of the vault' },
      theirs: { summary: 'In a conflict, take the version of the fork' },
      markers: { summary: 'In a conflict, write both versions between markers' },
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
    examples: ['coppice merge task-1', 'coppice merge task-1 base --theirs'],
  },
  (call) =>
    withHome(call, async (open) => {
      const fork = call.argument('fork')
      const { signal: _signal, ...provenance } = open.ctx
      const into = call.optionalArgument('into') ?? (await findOrigin(open, fork))
      try {
        const changes = await open.home.merge(fork, into, { ...provenance, ...parseConflictOption(call) })
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

function parseConflictOption(call: CommandInvocation<OnConflict>): { readonly onConflict?: OnConflict } {
  const [answer, second] = conflictOptions.filter((name) => call.has(name))
  if (second !== undefined)
    throw new UsageError(`--${answer} and --${second} exclude each other; leave one out`)
  return answer === undefined ? {} : { onConflict: answer }
}

async function printMerged(
  call: CommandInvocation,
  fork: string,
  into: string,
  changes: readonly PathChange[],
): Promise<void> {
  if (call.isJson) {
    await call.output.writeValue({ fork, into, changes: changes.map(toChangeJson) })
    return
  }
  for (const change of changes) await call.output.writeLine(formatChangeWithMode(call.terminal, change))
  await call.output.writeLine(`merged ${formatCount(changes.length, 'change')} of ${fork} into ${into}`)
}

function formatConflicts(conflicts: readonly Conflict[], fork: string, into: string): string {
  return `coppice: ${fork} and ${into} both changed ${formatCount(conflicts.length, 'path')}; nothing was merged
${conflicts.map(({ path }) => `  C ${escapeName(path)}\n`).join('')}Merge again with one of:
  coppice merge ${fork} ${into} --ours      keeps what ${into} has
  coppice merge ${fork} ${into} --theirs    takes what ${fork} has
  coppice merge ${fork} ${into} --markers   puts both into the file, to be edited
`
}
