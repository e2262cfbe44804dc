import { z } from 'zod'
import { type AtPlace, anyPath, fileTool, LOOKS } from '../define-tool.ts'
import { openableFile } from '../place.ts'
import { type LastLines, lastLines } from '../text/last-lines.ts'
import { decodedPieces } from '../text/line-stream.ts'
import { noteVersion } from '../text/opened-text.ts'
import { MAX_PAGE_LINES } from '../text/text-page.ts'
import { countNewlines } from '../text/text-slice.ts'
import type { Tool } from '../tool.ts'

export const fileTail: Tool = fileTool({
  name: 'file_tail',
  title: 'Last lines of a file',
  description: 'Show the last lines of a text file, as they are.',
  hints: LOOKS,
  isBounded: true,
  schema: z.strictObject({
    path: anyPath,
    lines: z.int().min(1, 'must be 1 or more').default(50).describe('How many lines.'),
  }),
  async run({ lines }, at) {
    const stat = await openableFile(at.place, at.call.ctx)
    await noteVersion(at, stat)
    const end = await lastLines(at.place, stat.size, lines, at.call.ctx)
    if (end.lines.length === 0) return '(the file is empty)'
    const text = end.lines.join('\n')
    return end.isComplete ? text : `${text}\n… (${await describeCut(at, stat.size, end)})`
  },
})

/** Which lines these are, and how to read those before. Counts the lines of the file. */
async function describeCut(
  { place: { fs, path, shown }, call }: AtPlace,
  size: number,
  { lines, isLineCut }: LastLines,
): Promise<string> {
  let total = 0
  let last = '\n'
  const opened = { chunks: fs.read(path, {}, call.ctx), shown }
  for await (const piece of decodedPieces(opened, (bytes) => call.progress(bytes, size))) {
    total += countNewlines(piece)
    last = piece.at(-1) ?? last
  }
  if (last !== '\n') total++
  const first = total - lines.length + 1
  if (isLineCut) return `the end of line ${first}: read it from its beginning with file_read, offset ${first}`
  const before = Math.max(1, first - MAX_PAGE_LINES)
  return `lines ${first} to ${total}: read those before with file_read, offset ${before}`
}
