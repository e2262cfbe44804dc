import { z } from 'zod'
import { defineFileTool, pathSchema, READ_ONLY_HINTS, type TargetContext } from '../define-tool.ts'
import { type LastLines, readLastLines } from '../text/last-lines.ts'
import { decodePieces } from '../text/line-stream.ts'
import { recordVersion } from '../text/opened-text.ts'
import { MAX_PAGE_LINES } from '../text/text-page.ts'
import { countNewlines } from '../text/text-slice.ts'
import type { Tool } from '../tool.ts'
import { statOpenableFile } from '../tool-target.ts'

export const fileTail: Tool = defineFileTool({
  name: 'file_tail',
  title: 'Show the last lines of a file',
  description: 'Show the last lines of a text file, as they are.',
  hints: READ_ONLY_HINTS,
  isBounded: true,
  schema: z.strictObject({
    path: pathSchema,
    lines: z.int().min(1, 'must be 1 or more').default(50).describe('Number of lines.'),
  }),
  async run({ lines }, targetContext) {
    const stat = await statOpenableFile(targetContext.target, targetContext.call.ctx)
    await recordVersion(targetContext, stat)
    const end = await readLastLines(targetContext.target, stat.size, lines, targetContext.call.ctx)
    if (end.lines.length === 0) return '(the file is empty)'
    const text = end.lines.join('\n')
    return end.isComplete ? text : `${text}\n… (${await describeCut(targetContext, stat.size, end)})`
  },
})

/** Describes the shown lines and how to read those before. Counts the lines of the file. */
async function describeCut(
  { target: { fs, path, displayPath }, call }: TargetContext,
  size: number,
  { lines, isLineCut }: LastLines,
): Promise<string> {
  let total = 0
  let last = '\n'
  const opened = { chunks: fs.read(path, {}, call.ctx), displayPath }
  for await (const piece of decodePieces(opened, (bytes) => call.progress(bytes, size))) {
    total += countNewlines(piece)
    last = piece.at(-1) ?? last
  }
  if (last !== '\n') total++
  const first = total - lines.length + 1
  if (isLineCut) return `the end of line ${first}: read it from its beginning with file_read, offset ${first}`
  const before = Math.max(1, first - MAX_PAGE_LINES)
  return `lines ${first} to ${total}: read those before with file_read, offset ${before}`
}
