import { isChangeOfGit } from '../../../git-files/index.ts'
import { escapeName } from '../../../text/index.ts'
import type { TimelineNote } from '../../../timeline/events/index.ts'
import type { RecordHistory, Timeline, TimelineRecord } from '../../../timeline/index.ts'
import { withTimeline } from '../../access/timeline-access.ts'
import { type Command, defineCommand } from '../../framework/command.ts'
import type { CommandInvocation } from '../../framework/command-invocation.ts'
import { parseDuration } from '../../framework/parse-duration.ts'
import { applyStyle, type Terminal } from '../../framework/terminal.ts'
import { UsageError } from '../../framework/usage-error.ts'
import { formatChange } from '../../render/format-change.ts'
import { countListed, formatChangeList } from '../../render/format-git.ts'
import { formatCount } from '../../render/format-values.ts'

/** Paths that a line names; it counts the rest. */
const MAX_PATHS = 5
/** Characters of a prompt or a call that a line shows. */
const MAX_TEXT = 72
const DEFAULT_PROMPTS = 20

/** A line of the timeline: a prompt, a failure or a record. */
type TimelineItem =
  | { readonly time: number; readonly note: TimelineNote }
  | { readonly time: number; readonly record: TimelineRecord }

export const timeline: Command = defineCommand(
  {
    name: 'timeline',
    summary: 'List what agents with hooks did to this directory',
    details: `Prompts and calls with their changes, the latest last. Calls that changed nothing are left out.
Undo one by its id: coppice undo 12, or coppice undo 12.3. Set up hooks with: coppice hooks install.`,
    scope: 'home',
    options: {
      last: { summary: `Show the last n prompts (default: ${DEFAULT_PROMPTS})`, value: 'n' },
      forget: { summary: 'Delete what is older, such as 30d; it cannot be undone then', value: 'time' },
    },
    examples: ['coppice timeline', 'coppice timeline --last 1 --json', 'coppice timeline --forget 30d'],
  },
  (call) =>
    withTimeline(call, async ({ timeline: recorded, directory }) => {
      const age = call.option('forget')
      if (age !== undefined) return forget(call, recorded, parseDuration('forget', age))
      const { notes, history } = await recorded.list()
      const items = takeLast(mergeItems(notes, history.records), parsePromptCount(call))
      if (call.isJson) {
        await call.output.writeValue({ directory, items: items.map((item) => toJson(item, history)) })
        return
      }
      if (items.length === 0)
        await call.output.writeLine(`nothing is recorded for ${escapeName(directory)} yet`)
      for (const item of items)
        for (const line of formatItem(call.terminal, item, history)) await call.output.writeLine(line)
    }),
)

function parsePromptCount(call: CommandInvocation<'last'>): number {
  const count = call.countOption('last') ?? DEFAULT_PROMPTS
  if (count > 0) return count
  throw new UsageError('--last takes a number of prompts, 1 or more')
}

async function forget(call: CommandInvocation, recorded: Timeline, age: number): Promise<void> {
  const records = await recorded.forget(Date.now() - age)
  await call.output.writeValue(
    { forgotten: records },
    `deleted ${formatCount(records, 'record')}; coppice gc frees their space`,
  )
}

function mergeItems(
  notes: readonly TimelineNote[],
  records: readonly TimelineRecord[],
): readonly TimelineItem[] {
  const items = [
    ...notes.map((note) => ({ time: note.time, note })),
    ...records.map((record) => ({ time: record.time, record })),
  ]
  return items.sort((one, other) => one.time - other.time)
}

/** Returns the items from the last prompts on; all if there are no more prompts than that. */
function takeLast(items: readonly TimelineItem[], prompts: number): readonly TimelineItem[] {
  const starts = items.flatMap((item, index) =>
    'note' in item && item.note.kind === 'prompt' ? [index] : [],
  )
  return items.slice(starts.length > prompts ? starts.at(-prompts) : 0)
}

function toJson(item: TimelineItem, history: RecordHistory): object {
  const time = new Date(item.time).toISOString()
  if ('note' in item) return { ...item.note, time }
  const { stage: _stage, ...record } = item.record
  return { kind: 'record', ...record, time, isUndone: history.isUndone(item.record) }
}

function formatItem(terminal: Terminal, item: TimelineItem, history: RecordHistory): string[] {
  const time = formatClock(item.time)
  if ('record' in item) return formatRecord(terminal, item.record, history)
  const { note } = item
  if (note.kind === 'failure')
    return [`!      ${time}  ${note.agent}'s hook failed: ${escapeName(note.message)}`]
  const title = `${String(note.prompt).padEnd(6)} ${time}  ${note.agent}: ${shorten(note.text)}`
  return [applyStyle(terminal, 'bold', title)]
}

function formatRecord(terminal: Terminal, record: TimelineRecord, history: RecordHistory): string[] {
  const { changes, skipped = [] } = record
  const format = (listed: typeof changes) =>
    formatChangeList(listed, (change) => formatChange(terminal, change))
  const lines = format(changes.filter((change) => !isChangeOfGit(change)))
  const more = lines.length - MAX_PATHS
  return [
    `  ${formatAuthor(record, history)}`,
    ...lines.slice(0, MAX_PATHS).map((line) => `           ${line}`),
    ...(more > 0 ? [`           … and ${formatCount(more, 'change')} more`] : []),
    ...format(changes.filter(isChangeOfGit)).map((line) => `           ${line}`),
    ...skipped.slice(0, MAX_PATHS).map((path) => `           ! ${escapeName(path)} was not recorded`),
  ]
}

function formatAuthor(record: TimelineRecord, history: RecordHistory): string {
  const { by, call, changes } = record
  if (by === 'person')
    return `-      you, or another program, made ${formatCount(countListed(changes), 'change')}`
  if (by === 'undo' || by === 'redo')
    return `-      coppice ${by} wrote ${formatCount(countListed(changes), 'change')}`
  const id = call === undefined ? '-' : `${call.prompt}.${call.number}`
  const marks = [
    ...(by === 'unclear' ? ['did not finish'] : []),
    ...(history.isUndone(record) ? ['undone'] : []),
  ]
  const mark = marks.length === 0 ? '' : ` (${marks.join(', ')})`
  return `${id.padEnd(6)} ${escapeName(call?.tool ?? '')} ${shorten(call?.summary ?? '')}${mark}`
}

function formatClock(time: number): string {
  return new Date(time).toTimeString().slice(0, 5)
}

function shorten(text: string): string {
  const [line = ''] = text.trim().split('\n')
  const cut = line.length > MAX_TEXT || line !== text.trim() ? `${line.slice(0, MAX_TEXT)}…` : line
  return escapeName(cut)
}
