import { z } from 'zod'
import { isVfsError } from '../../vfs/index.ts'
import { defineFileTool, pathSchema, READ_ONLY_HINTS, type TargetContext } from '../define-tool.ts'
import { annotatePage, MAX_PAGE_CHARACTERS, MAX_PAGE_LINES, readPage } from '../text/text-page.ts'
import type { TextPosition } from '../text/text-slice.ts'
import type { Tool } from '../tool.ts'
import { readImage } from './image-file.ts'

const LIMIT = `Maximum number of lines; a result has at most ${MAX_PAGE_LINES}, or ${MAX_PAGE_CHARACTERS} characters.`
const NOT_UTF8 = '\ufffd may stand for bytes that are not valid text'

const schema = z.strictObject({
  path: pathSchema,
  offset: z.int().min(1, 'lines are counted from 1').default(1).describe('The first line, counted from 1.'),
  limit: z.int().min(1, 'must be 1 or more').default(MAX_PAGE_LINES).describe(LIMIT),
  numbered: z
    .boolean()
    .default(true)
    .describe('False for the text alone, exactly as the file has it, without line numbers.'),
  column: z
    .int()
    .min(1, 'characters are counted from 1')
    .default(1)
    .describe('The first character of the first line, to continue inside a very long line.'),
})

export const fileRead: Tool = defineFileTool({
  name: 'file_read',
  title: 'Read a file',
  description:
    'Read a text file with line numbers, as file_edit counts them; continue a long one with offset. The number and the tab after it are not part of the file. Shows an image (PNG, JPEG, GIF, WebP) where the client can.',
  hints: READ_ONLY_HINTS,
  isBounded: true,
  schema,
  async run(args, targetContext) {
    try {
      return await readText(args, targetContext)
    } catch (error) {
      const image = isVfsError(error, 'EINVAL') ? await readImage(targetContext) : undefined
      if (image === undefined) throw error
      return image
    }
  },
})

/** Reads a page of a text file. EINVAL if the file is not text. */
async function readText(
  { offset, limit, numbered, column }: z.infer<typeof schema>,
  targetContext: TargetContext,
): Promise<string> {
  const form = numbered ? 'numbered' : 'exact'
  const page = await readPage(targetContext, { line: offset, column }, limit, form)
  const notes = [
    ...(numbered && page.text.includes('\ufffd') ? [NOT_UTF8] : []),
    ...(page.next === undefined ? [] : [`more follows: continue with ${formatPosition(page.next)}`]),
  ]
  return annotatePage(page, notes.length === 0 ? undefined : notes.join('; '))
}

/** Formats a position as arguments of file_read. */
export function formatPosition({ line, column }: TextPosition): string {
  return column === 1 ? `offset ${line}` : `offset ${line} and column ${column}`
}
