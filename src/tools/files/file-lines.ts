import { z } from 'zod'
import { VfsError } from '../../vfs/index.ts'
import { type AtPlace, anyPath, fileTool, LOOKS } from '../define-tool.ts'
import { openableFile } from '../place.ts'
import { countLines, lineBlocks, linesIn } from '../text/line-stream.ts'
import { openText } from '../text/opened-text.ts'
import { numbered, TextOutput } from '../text/text-output.ts'
import type { Tool } from '../tool.ts'

const DEFAULT_LIMIT = 2000
const EMPTY = '(the file is empty)'

export const fileLines: Tool = fileTool({
  name: 'file_lines',
  title: 'Some lines of a file',
  description: 'Show the lines from start to end of a text file, both included, as they are.',
  hints: LOOKS,
  schema: z
    .strictObject({
      path: anyPath,
      start: z.int().min(1, 'lines are counted from 1').describe('The first line, counted from 1.'),
      end: z.int().min(1, 'lines are counted from 1').describe('The last line, included.'),
    })
    .refine(({ start, end }) => end >= start, { path: ['end'], error: 'must not be less than start' }),
  async run({ start, end }, at) {
    const { output } = await linesFrom(at, start, end, (_, line) => line)
    return output.text(EMPTY, '… (cut; ask for fewer lines)')
  },
})

export const fileRead: Tool = fileTool({
  name: 'file_read',
  title: 'Read a file',
  description:
    'Read a text file with line numbers, as file_edit counts them; continue a long one with offset. The number and the tab after it are not part of the file.',
  hints: LOOKS,
  schema: z.strictObject({
    path: anyPath,
    offset: z.int().min(1, 'lines are counted from 1').default(1).describe('The first line, counted from 1.'),
    limit: z.int().min(1, 'must be 1 or more').default(DEFAULT_LIMIT).describe('How many lines at most.'),
    numbered: z.boolean().default(true).describe('False for the text alone, without line numbers.'),
  }),
  async run({ offset, limit, numbered: isNumbered }, at) {
    const shape = isNumbered ? numbered : (_: number, line: string) => line
    const { output, hasMore } = await linesFrom(at, offset, offset + limit - 1, shape)
    const more = `… (more follows: continue with offset ${offset + output.count})`
    const text = output.text(EMPTY, more)
    return hasMore && !output.isFull ? `${text}\n${more}` : text
  },
})

interface Found {
  readonly output: TextOutput
  /** Whether there are lines behind the last one asked for. */
  readonly hasMore: boolean
}

/** The lines from first to last, each told by `shape`. EINVAL if the file ends before the first. */
async function linesFrom(
  at: AtPlace,
  first: number,
  last: number,
  shape: (number: number, line: string) => string,
): Promise<Found> {
  const { place, call } = at
  const stat = await openableFile(place, call.ctx)
  const text = await openText(at, stat)
  const output = new TextOutput()
  let passed = 0
  for await (const block of lineBlocks(text, (bytes) => call.progress(bytes, stat.size))) {
    const count = countLines(block)
    if (passed + count >= first) {
      let number = passed
      for (const line of linesIn(block)) {
        if (++number > last || output.isFull) return { output, hasMore: true }
        if (number >= first) output.add(shape(number, line))
      }
    }
    passed += count
  }
  if (passed < first && first > 1) {
    const lines = passed === 1 ? '1 line' : `${passed} lines`
    const detail = `there is no line ${first}: the file has ${lines}`
    throw new VfsError('EINVAL', place.path, { op: 'read', detail })
  }
  return { output, hasMore: false }
}
