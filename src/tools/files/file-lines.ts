import { z } from 'zod'
import { defineFileTool, pathSchema, READ_ONLY_HINTS } from '../define-tool.ts'
import { annotatePage, readPage, type TextPage } from '../text/text-page.ts'
import type { Tool } from '../tool.ts'
import { formatPosition } from './file-read.ts'

export const fileLines: Tool = defineFileTool({
  name: 'file_lines',
  title: 'Show lines of a file',
  description: 'Show the lines from start to end of a text file, both included, as they are.',
  hints: READ_ONLY_HINTS,
  isBounded: true,
  schema: z
    .strictObject({
      path: pathSchema,
      start: z.int().min(1, 'lines are counted from 1').describe('The first line, counted from 1.'),
      end: z.int().min(1, 'lines are counted from 1').describe('The last line, included.'),
    })
    .refine(({ start, end }) => end >= start, { path: ['end'], error: 'must not be less than start' }),
  async run({ start, end }, targetContext) {
    return formatRange(
      await readPage(targetContext, { line: start, column: 1 }, end - start + 1, 'lines'),
      end,
    )
  },
})

export const fileHead: Tool = defineFileTool({
  name: 'file_head',
  title: 'Show the first lines of a file',
  description: 'Show the first lines of a text file, as they are.',
  hints: READ_ONLY_HINTS,
  isBounded: true,
  schema: z.strictObject({
    path: pathSchema,
    lines: z.int().min(1, 'must be 1 or more').default(50).describe('Number of lines.'),
  }),
  async run({ lines }, targetContext) {
    return formatRange(await readPage(targetContext, { line: 1, column: 1 }, lines, 'lines'), lines)
  },
})

/** Formats the lines of a range, with a note where to continue if the page ends early. */
function formatRange(page: TextPage, last: number): string {
  const { next } = page
  if (next === undefined || next.line > last) return annotatePage(page)
  return annotatePage(page, `more follows: continue with file_read, ${formatPosition(next)}`)
}
