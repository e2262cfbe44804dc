import { VfsError } from '../../vfs/index.ts'
import type { TargetContext } from '../define-tool.ts'
import { getCutPosition } from './character-cut.ts'
import { decodePieces, type OpenedText, stripReturn } from './line-stream.ts'
import { openFileText, type WholeText } from './opened-text.ts'
import { formatNumberedLine } from './text-output.ts'
import {
  type MissingPosition,
  readSlice,
  sliceFrom,
  type TextPosition,
  type TextSlice,
} from './text-slice.ts'

/** Maximum lines of a file in one page. */
export const MAX_PAGE_LINES = 2000
/** Maximum characters of a file in one page. */
export const MAX_PAGE_CHARACTERS = 100_000

/** Room for the line end after the last character of a page. */
const LINE_END_CHARACTERS = 2

/** Format of the lines of a page. */
export type PageForm =
  /** Lines as in the file, line ends included. */
  | 'exact'
  /** Without `\r`, and without the final newline. */
  | 'lines'
  /** Like `lines`, with line numbers. */
  | 'numbered'

/** Some lines of a text file, within the limits of one page. */
export interface TextPage {
  readonly text: string
  readonly form: PageForm
  readonly isEmpty: boolean
  /** Position of the next page; absent at the end. */
  readonly next?: TextPosition
}

/** Reads a page from a position on. EINVAL if the file has no such position, or is not text. */
export async function readPage(
  targetContext: TargetContext,
  from: TextPosition,
  maxLines: number,
  form: PageForm,
): Promise<TextPage> {
  const opened = await openFileText(targetContext)
  const lines = Math.min(maxLines, MAX_PAGE_LINES)
  const progress = (bytes: number) => targetContext.call.progress(bytes, opened.size)
  const slice =
    'content' in opened ? sliceWhole(opened, from, progress) : await readPieces(opened, from, lines, progress)
  if ('problem' in slice)
    throw new VfsError('EINVAL', targetContext.target.path, { op: 'read', detail: slice.problem })
  return formatPage(slice, from, lines, form)
}

function sliceWhole(
  { content, displayPath }: WholeText,
  from: TextPosition,
  progress: (bytes: number) => void,
): TextSlice | MissingPosition {
  const text = content.getText(displayPath)
  progress(content.bytes.length)
  return sliceFrom(text, from)
}

function readPieces(
  opened: OpenedText,
  from: TextPosition,
  lines: number,
  progress: (bytes: number) => void,
): Promise<TextSlice | MissingPosition> {
  const size = { lines, characters: MAX_PAGE_CHARACTERS + LINE_END_CHARACTERS }
  return readSlice(decodePieces(opened, progress), from, size)
}

/** Returns the text of a page, with an optional note as its last line. */
export function annotatePage({ text, form, isEmpty }: TextPage, note?: string): string {
  if (isEmpty) return '(the file is empty)'
  if (note === undefined) return text
  return `${text}${form === 'exact' && text.endsWith('\n') ? '' : '\n'}… (${note})`
}

/** Formats as many lines as fit; of a first line that does not fit, a part. */
function formatPage(
  { text, isEnd }: TextSlice,
  from: TextPosition,
  maxLines: number,
  form: PageForm,
): TextPage {
  const pageLines: string[] = []
  let length = 0
  for (let start = 0; start < text.length; ) {
    const line = from.line + pageLines.length
    if (pageLines.length === maxLines) return createPage(pageLines, form, { line, column: 1 })
    const newline = text.indexOf('\n', start)
    const end = newline === -1 ? text.length : newline
    const prefix = form === 'numbered' ? formatNumberedLine(line, '') : ''
    const body = form === 'exact' ? text.slice(start, end) : stripReturn(text.slice(start, end))
    const isWhole = newline !== -1 || isEnd
    if (!isWhole || length + prefix.length + body.length > MAX_PAGE_CHARACTERS) {
      if (pageLines.length > 0) return createPage(pageLines, form, { line, column: 1 })
      return cutFirstLine(text.slice(start, end), from, form, prefix)
    }
    pageLines.push(form === 'exact' && newline !== -1 ? `${body}\n` : prefix + body)
    length += prefix.length + body.length + 1
    start = end + 1
  }
  return createPage(pageLines, form)
}

/** Cuts a line that is longer than a page. */
function cutFirstLine(line: string, from: TextPosition, form: PageForm, prefix: string): TextPage {
  const end = getCutPosition(line, MAX_PAGE_CHARACTERS - prefix.length)
  return createPage([prefix + line.slice(0, end)], form, { line: from.line, column: from.column + end })
}

function createPage(lines: readonly string[], form: PageForm, next?: TextPosition): TextPage {
  const text = lines.join(form === 'exact' ? '' : '\n')
  return { text, form, isEmpty: lines.length === 0, ...(next !== undefined && { next }) }
}
