import { z } from 'zod'
import { anyPath, fileTool, LOOKS } from '../define-tool.ts'
import { openableFile } from '../place.ts'
import { lastLines } from '../text/last-lines.ts'
import { lineBlocks, linesIn } from '../text/line-stream.ts'
import { noteVersion, openText } from '../text/opened-text.ts'
import { MAX_TEXT_CHARACTERS, TextOutput } from '../text/text-output.ts'
import type { Tool } from '../tool.ts'

const EMPTY = '(the file is empty)'
const TOO_LONG = `… (cut at ${MAX_TEXT_CHARACTERS} characters; ask for fewer lines)`

const schema: z.ZodType<{ path: string; lines: number }> = z.strictObject({
  path: anyPath,
  lines: z.int().min(1, 'must be 1 or more').default(50).describe('How many lines.'),
})

export const fileHead: Tool = fileTool({
  name: 'file_head',
  title: 'First lines of a file',
  description: 'Show the first lines of a text file, as they are.',
  hints: LOOKS,
  schema,
  async run({ lines }, at) {
    const stat = await openableFile(at.place, at.call.ctx)
    const output = new TextOutput()
    for await (const block of lineBlocks(await openText(at, stat))) {
      for (const line of linesIn(block)) {
        if (output.count >= lines || output.isFull) return output.text(EMPTY, TOO_LONG)
        output.add(line)
      }
    }
    return output.text(EMPTY, TOO_LONG)
  },
})

export const fileTail: Tool = fileTool({
  name: 'file_tail',
  title: 'Last lines of a file',
  description: 'Show the last lines of a text file, as they are.',
  hints: LOOKS,
  schema,
  async run({ lines }, at) {
    const stat = await openableFile(at.place, at.call.ctx)
    await noteVersion(at, stat)
    const end = await lastLines(at.place, stat.size, lines, at.call.ctx)
    const output = new TextOutput()
    if (end.isCut)
      output.add(`(only the last ${end.lines.length} lines: those before are too long to show at once) …`)
    for (const line of end.lines) output.add(line)
    return output.text(EMPTY, TOO_LONG)
  },
})
