import { resolve } from 'node:path'
import { escapeName } from '../../../text/index.ts'
import { parseTimelineId, type UndoReport, type UndoSelection } from '../../../timeline/index.ts'
import { ApplyError } from '../../../workspace/index.ts'
import { withTimeline } from '../../access/timeline-access.ts'
import { type Command, defineCommand } from '../../framework/command.ts'
import type { CommandInvocation } from '../../framework/command-invocation.ts'
import { CommandError, exitCodes } from '../../framework/errors.ts'
import { UsageError } from '../../framework/usage-error.ts'
import { formatChange } from '../../render/format-change.ts'
import { formatChangeList } from '../../render/format-git.ts'
import { formatCount } from '../../render/format-values.ts'
import { quoteShellWord } from '../../render/shell-word.ts'

type UndoInvocation = CommandInvocation<'last' | 'dry-run' | 'merge' | 'unfinished', 'id' | 'path'>

const dryRun = { summary: 'Show what would be written, and write nothing' } as const
const merge = { summary: 'Keep what you changed in other lines of the same files' } as const

export const undo: Command = defineCommand(
  {
    name: 'undo',
    summary: 'Put files back to before what an agent did',
    details: `Undoes the last prompt that changed something: all of its calls, shell commands included. The agent must have hooks;
see coppice hooks. Writes everything or nothing. Where you changed a file since, nothing is written and the exit
code is 3. Only recorded files are touched.`,
    scope: 'home',
    options: {
      last: { summary: 'Undo the last n prompts', value: 'n' },
      merge,
      unfinished: { summary: 'Also undo changes since a call that did not finish' },
      'dry-run': dryRun,
    },
    arguments: {
      id: { summary: 'A prompt (12) or a call (12.3) of coppice timeline', isOptional: true },
      path: {
        summary: 'Undo only these files and directories',
        isOptional: true,
        isAfterDashes: true,
        isList: true,
        offers: 'file',
      },
    },
    examples: ['coppice undo', 'coppice undo 12.3 -- src/cart.ts', 'coppice undo --last 2 --dry-run'],
  },
  (call) =>
    withTimeline(call, async ({ timeline, directory }) => {
      const selection = parseSelection(call)
      const paths = call.argumentList('path').map((path) => toTimelinePath(directory, path))
      return writeAndReport(call, createUndoRequest(call), () =>
        timeline.undo({
          selection,
          paths,
          merge: call.has('merge'),
          unfinished: call.has('unfinished'),
          dryRun: call.has('dry-run'),
        }),
      )
    }),
)

export const redo: Command = defineCommand(
  {
    name: 'redo',
    summary: 'Take back the last undo',
    details: `Writes everything or nothing. Where you or an agent changed a file since, nothing is written and the exit code is 3.`,
    scope: 'home',
    options: { merge, 'dry-run': dryRun },
    examples: ['coppice redo', 'coppice redo --dry-run'],
  },
  (call) =>
    withTimeline(call, ({ timeline }) =>
      writeAndReport(call, { act: 'redo', options: [], paths: [] }, () =>
        timeline.redo({ merge: call.has('merge'), dryRun: call.has('dry-run') }),
      ),
    ),
)

/** The words of an undo or redo, for commands that go on with it. */
interface UndoRequest {
  readonly act: 'undo' | 'redo'
  /** The selection, `--merge` and `--unfinished`. */
  readonly options: readonly string[]
  readonly paths: readonly string[]
}

function createUndoRequest(call: UndoInvocation): UndoRequest {
  const [id, last] = [call.optionalArgument('id'), call.countOption('last')]
  const options = [
    ...(id === undefined ? [] : [id]),
    ...(last === undefined ? [] : ['--last', String(last)]),
    ...(call.has('merge') ? ['--merge'] : []),
    ...(call.has('unfinished') ? ['--unfinished'] : []),
  ]
  return { act: 'undo', options, paths: call.argumentList('path') }
}

/** Formats the command of an undo with one more option. */
function formatUndoCommand({ act, options, paths }: UndoRequest, option: string): string {
  const words = ['coppice', act, ...options, option, ...(paths.length === 0 ? [] : ['--', ...paths])]
  return words.map(quoteShellWord).join(' ')
}

function parseSelection(call: UndoInvocation): UndoSelection {
  const [text, last] = [call.optionalArgument('id'), call.countOption('last')]
  if (text !== undefined && last !== undefined)
    throw new UsageError('an id and --last exclude each other; leave one out')
  if (last === 0) throw new UsageError('--last takes a number of prompts, 1 or more')
  if (text === undefined) return { last: last ?? 1 }
  const id = parseTimelineId(text)
  if (id !== undefined) return id
  throw new UsageError(`'${text}' is no id such as 12 or 12.3; see coppice timeline, and put paths after --`)
}

function toTimelinePath(directory: string, path: string): string {
  const absolute = resolve(path)
  if (absolute === directory) return '/'
  if (absolute.startsWith(`${directory}/`)) return absolute.slice(directory.length)
  throw new CommandError(`'${path}' is not in ${directory}; name a file or directory in it`)
}

/**
 * Runs an undo or redo, prints what it wrote, and returns the exit code. On conflicts, prints them unless JSON is
 * wanted.
 */
async function writeAndReport(
  call: CommandInvocation<'dry-run' | 'merge'>,
  request: UndoRequest,
  work: () => Promise<UndoReport>,
): Promise<number> {
  try {
    await printReport(call, request.act, await work())
    return exitCodes.ok
  } catch (error) {
    if (!(error instanceof ApplyError) || call.isJson) throw error
    call.terminal.err.write(formatConflicts(error, request, call.has('merge')))
    return exitCodes.conflict
  }
}

async function printReport(
  call: CommandInvocation<'dry-run' | 'merge'>,
  act: 'undo' | 'redo',
  report: UndoReport,
): Promise<void> {
  const { prompts, skipped } = report
  const others = report.others.map(({ prompt, call: number }) => `${prompt}.${number}`)
  const changes = report.changes.map(({ path, before, after }) => {
    const kind = before === undefined ? 'added' : after === undefined ? 'deleted' : 'modified'
    return { kind, path } as const
  })
  if (call.isJson) {
    await call.output.writeValue({ dryRun: call.has('dry-run'), prompts, others, changes, skipped })
    return
  }
  const lines = formatChangeList(changes, (change) => formatChange(call.terminal, change))
  for (const line of lines) await call.output.writeLine(line)
  for (const path of skipped)
    await call.output.writeLine(`! ${escapeName(path)} was not recorded, and stays as it is`)
  const summary = { act, count: lines.length, prompts, others, isDry: call.has('dry-run') }
  await call.output.writeLine(formatSummary(summary))
}

interface UndoSummary {
  readonly act: 'undo' | 'redo'
  readonly count: number
  readonly prompts: readonly number[]
  /** Ids of other calls that were undone too. */
  readonly others: readonly string[]
  readonly isDry: boolean
}

function formatSummary({ act, count, prompts, others, isDry }: UndoSummary): string {
  const files = formatCount(count, 'change')
  const also = others.length === 0 ? '' : `, and what ${others.join(', ')} changed later in the same files`
  if (isDry) return `would write ${files}${also === '' ? '' : `: undoes them${also}`}`
  if (act === 'redo') return `took the last undo back: ${files}; undo them again with: coppice undo`
  const origin = prompts.length === 0 ? '' : ` of prompt ${prompts.join(', ')}`
  if (count === 0)
    return `nothing was written: files are already as before prompt ${prompts.join(', ')}; take that back with: coppice redo`
  return `undid ${files}${origin}${also}; take that back with: coppice redo`
}

function formatConflicts({ conflicts }: ApplyError, request: UndoRequest, isMerged: boolean): string {
  const { act, options } = request
  const lines = conflicts.map(({ path, reason }) => `  C ${escapeName(path)} ${escapeName(reason)}\n`)
  const unfinished = conflicts.some(({ reason }) => reason.includes('did not finish'))
  const hints = [
    ...(isMerged
      ? []
      : [`Keep your own changes, and ${act} the others, with: ${formatUndoCommand(request, '--merge')}`]),
    ...(unfinished && act === 'undo'
      ? [`Undo those of the unfinished call with: ${formatUndoCommand(request, '--unfinished')}`]
      : []),
    ...(act === 'undo' ? [`Undo other files with: ${['coppice undo', ...options].join(' ')} -- PATH`] : []),
  ]
  return `coppice: nothing was written: files changed since\n${lines.join('')}${hints.join('\n')}\n`
}
