import { VfsError } from '../../vfs/index.ts'
import type { TargetContext } from '../define-tool.ts'
import { statOpenableFile } from '../tool-target.ts'
import { getCutPosition } from './character-cut.ts'
import { decodePieces, stripReturn } from './line-stream.ts'
import { openText } from './opened-text.ts'
import { formatNumberedLine } from './text-output.ts'
import { readSlice, type TextPosition, type TextSlice } from './text-slice.ts'

/** How many lines of a file one answer holds at most. */
export const MAX_PAGE_LINES = 2000
/** How many characters of a file one answer holds at most. */
export const MAX_PAGE_CHARACTERS = 100_000

/** Room for the line end behind the last character of a page. */
const LINE_END_CHARACTERS = 2

/** How the lines of a page are written. */
export type PageForm =
  /** Each line as the file has it, its line end included. */
  | 'exact'
  /** Without line ends of Windows, and without the newline at the end. */
  | 'lines'
  /** As `lines`, with the number of each in front. */
  | 'numbered'

/** Some lines of a text file, within the bounds of one answer. */
export interface TextPage {
  readonly text: string
  readonly form: PageForm
  readonly isEmpty: boolean
  /** Where the text goes on; absent at its end. */
  readonly next?: TextPosition
}

/** A page of a file, from a position on. EINVAL if the file has no such position, or is not text. */
export async function readPage(
  at: TargetContext,
  from: TextPosition,
  maxLines: number,
  form: PageForm,
): Promise<TextPage> {
  const { target, call } = at
  const stat = await statOpenableFile(target, call.ctx)
  const pieces = decodePieces(await openText(at, stat), (bytes) => call.progress(bytes, stat.size))
  const lines = Math.min(maxLines, MAX_PAGE_LINES)
  const size = { lines, characters: MAX_PAGE_CHARACTERS + LINE_END_CHARACTERS }
  const slice = await readSlice(pieces, from, size)
  if ('problem' in slice) throw new VfsError('EINVAL', target.path, { op: 'read', detail: slice.problem })
  return formatPage(slice, from, lines, form)
}

/** The text of a page, with a note in a last line if there is one to make. */
export function annotatePage({ text, form, isEmpty }: TextPage, note?: string): string {
  if (isEmpty) return '(the file is empty)'
  if (note === undefined) return text
  return `${text}${form === 'exact' && text.endsWith('\n') ? '' : '\n'}… (${note})`
}

/** As many lines of a slice as fit; of a first line that does not fit, as much as does. */
function formatPage(
  { text, isEnd }: TextSlice,
  from: TextPosition,
  maxLines: number,
  form: PageForm,
): TextPage {
  const shown: string[] = []
  let length = 0
  for (let at = 0; at < text.length; ) {
    const line = from.line + shown.length
    if (shown.length === maxLines) return createPage(shown, form, { line, column: 1 })
    const newline = text.indexOf('\n', at)
    const end = newline === -1 ? text.length : newline
    const prefix = form === 'numbered' ? formatNumberedLine(line, '') : ''
    const body = form === 'exact' ? text.slice(at, end) : stripReturn(text.slice(at, end))
    const isWhole = newline !== -1 || isEnd
    if (!isWhole || length + prefix.length + body.length > MAX_PAGE_CHARACTERS) {
      if (shown.length > 0) return createPage(shown, form, { line, column: 1 })
      return cutFirstLine(text.slice(at, end), from, form, prefix)
    }
    shown.push(form === 'exact' && newline !== -1 ? `${body}\n` : prefix + body)
    length += prefix.length + body.length + 1
    at = end + 1
  }
  return createPage(shown, form)
}

/** The beginning of a line that is longer than a page. */
function cutFirstLine(line: string, from: TextPosition, form: PageForm, prefix: string): TextPage {
  const end = getCutPosition(line, MAX_PAGE_CHARACTERS - prefix.length)
  return createPage([prefix + line.slice(0, end)], form, { line: from.line, column: from.column + end })
}

function createPage(lines: readonly string[], form: PageForm, next?: TextPosition): TextPage {
  const text = lines.join(form === 'exact' ? '' : '\n')
  return { text, form, isEmpty: lines.length === 0, ...(next !== undefined && { next }) }
}
