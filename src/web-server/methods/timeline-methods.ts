import { realpathSync } from 'node:fs'
import { z } from 'zod'
import { readConfig } from '../../config/index.ts'
import type { TimelineNote } from '../../timeline/events/index.ts'
import { type RecordHistory, Timeline, type TimelineRecord, type UndoReport } from '../../timeline/index.ts'
import { VfsError } from '../../vfs/index.ts'
import type { WebTimelineItem, WebUndoReport } from '../../web-api/index.ts'
import { defineWebMethod, type MethodTable, pageShape, query } from '../define-method.ts'
import { paginate } from '../paginate.ts'
import { toSummary } from '../shorten-text.ts'
import type { WebContext } from '../web-context.ts'

const MAX_CHANGES = 100
const MAX_PROMPT = 4000

export function createTimelineMethods(
  web: WebContext,
): MethodTable<'listTimeline' | 'undoTimeline' | 'redoTimeline'> {
  const text = z.string().max(4096)
  const isTrial = z.boolean().exactOptional()
  const number = z.int().positive()
  return {
    listTimeline: defineWebMethod(
      'listTimeline',
      z.strictObject({ directory: query.text, ...pageShape }),
      async ({ directory, ...page }) => {
        const { notes, history } = await (await openTimeline(web, directory)).list()
        const items = [
          ...notes.map((note) => ({ time: note.time, item: toNoteItem(web, note) })),
          ...history.records.map((record) => ({
            time: record.time,
            item: toRecordItem(web, record, history),
          })),
        ].sort((one, other) => other.time - one.time)
        return paginate(
          items.map(({ item }) => item),
          page,
        )
      },
    ),
    undoTimeline: defineWebMethod(
      'undoTimeline',
      z.strictObject({
        directory: text,
        selection: z.union([
          z.strictObject({ last: number }),
          z.strictObject({ prompt: number, call: number.exactOptional() }),
        ]),
        paths: z.array(text).max(10_000).exactOptional(),
        isTrial,
      }),
      async ({ directory, selection, paths = [], isTrial: dryRun = false }) =>
        toWebReport(await (await openTimeline(web, directory)).undo({ selection, paths, dryRun })),
    ),
    redoTimeline: defineWebMethod(
      'redoTimeline',
      z.strictObject({ directory: text, isTrial }),
      async ({ directory, isTrial: dryRun = false }) =>
        toWebReport(await (await openTimeline(web, directory)).redo({ dryRun })),
    ),
  }
}

/** Opens the timeline of a directory. ENOENT if nothing is recorded for it. */
async function openTimeline({ home, path }: WebContext, directory: string): Promise<Timeline> {
  const { undo = {} } = await readConfig(path)
  const timeline = new Timeline({ path, open: async () => home }, resolveDirectory(directory), undo)
  if (timeline.exists) return timeline
  throw createMissingError(directory)
}

function resolveDirectory(directory: string): string {
  try {
    return realpathSync(directory)
  } catch {
    throw createMissingError(directory)
  }
}

function createMissingError(directory: string): VfsError {
  const detail = `nothing is recorded for ${directory}; record what an agent does with: coppice hooks install`
  return new VfsError('ENOENT', directory, { op: 'timeline', detail })
}

function toNoteItem({ redactor }: WebContext, note: TimelineNote): WebTimelineItem {
  const time = new Date(note.time).toISOString()
  if (note.kind === 'failure')
    return { kind: 'failure', time, agent: note.agent, message: toSummary(note.message, redactor) }
  const text = redactor.redactText(note.text).slice(0, MAX_PROMPT).toWellFormed()
  return { kind: 'prompt', time, prompt: note.prompt, agent: note.agent, text }
}

function toRecordItem(
  { redactor }: WebContext,
  record: TimelineRecord,
  history: RecordHistory,
): WebTimelineItem {
  const { number, by, call, changes, skipped = [] } = record
  return {
    kind: 'record',
    time: new Date(record.time).toISOString(),
    number,
    by,
    call:
      call === undefined
        ? null
        : {
            prompt: call.prompt,
            number: call.number,
            tool: call.tool,
            summary: toSummary(call.summary, redactor),
          },
    changes: changes.slice(0, MAX_CHANGES),
    total: changes.length,
    skipped: skipped.slice(0, MAX_CHANGES),
    isUndone: history.isUndone(record),
  }
}

function toWebReport({ changes, prompts, skipped }: UndoReport): WebUndoReport {
  return {
    changes: changes.slice(0, MAX_CHANGES).map(({ path, before, after }) => ({
      path,
      kind: before === undefined ? 'added' : after === undefined ? 'deleted' : 'modified',
    })),
    total: changes.length,
    prompts,
    skipped,
  }
}
