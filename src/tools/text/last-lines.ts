import { type CallContext, readFile } from '../../vfs/index.ts'
import type { ToolTarget } from '../tool-target.ts'
import { getCutPosition } from './character-cut.ts'
import { assertText, stripReturn } from './line-stream.ts'
import { MAX_PAGE_CHARACTERS, MAX_PAGE_LINES } from './text-page.ts'

/** Size of the part at the end of the file that is read first. */
const FIRST_WINDOW_BYTES = 64 * 1024
/** Factor by which the window grows while it holds too few lines. */
const WINDOW_GROWTH = 4
/** Size of the largest window: it holds a full page of the widest characters, and the end of the line before. */
const LAST_WINDOW_BYTES = FIRST_WINDOW_BYTES * WINDOW_GROWTH ** 2
/** Size of the part at the beginning of the file that shows its encoding. */
const ENCODING_PROBE_BYTES = 8000

/** The end of a file, within the limits of one page. */
export interface LastLines {
  readonly lines: readonly string[]
  /** True if these are all requested lines, or all there are. */
  readonly isComplete: boolean
  /** True if the first line, which is then the only one, is cut at its beginning. */
  readonly isLineCut: boolean
}

/**
 * Reads the last `count` lines of a text file from its end, and no more of it than a page can show. `count` is at
 * least 1. Throws EINVAL if the file is binary.
 */
export async function readLastLines(
  target: ToolTarget,
  size: number,
  count: number,
  ctx: CallContext,
): Promise<LastLines> {
  const probe = await readWindow(target, 0, ENCODING_PROBE_BYTES, ctx)
  const { name } = assertText(probe, target.displayPath)
  const maxLines = Math.min(count, MAX_PAGE_LINES)
  for (let length = FIRST_WINDOW_BYTES; ; length *= WINDOW_GROWTH) {
    const earliest = Math.max(0, size - length)
    // Even, so that no two-byte character is split.
    const start = earliest - (earliest % 2)
    const bytes = await readWindow(target, start, size - start, ctx)
    const lines = new TextDecoder(name).decode(bytes).split('\n')
    if (lines.at(-1) === '') lines.pop()
    const isWhole = start === 0
    if (!isWhole && lines.length <= maxLines && length < LAST_WINDOW_BYTES) continue
    // The first line is dropped, because it may begin before the window; a single line is kept and cut.
    const complete = isWhole || lines.length === 1 ? lines : lines.slice(1)
    const pageLines = takeFitting(complete.slice(-maxLines).map(stripReturn))
    const isComplete = pageLines.length === count || (isWhole && pageLines.length === lines.length)
    return cutLine(pageLines, isComplete)
  }
}

/** Returns as many of the last lines as fit in a page; at least one, even if it is too long. */
function takeFitting(lines: readonly string[]): readonly string[] {
  let from = lines.length
  for (let length = 0; from > 0; from--) {
    length += (lines[from - 1]?.length ?? 0) + 1
    if (length - 1 > MAX_PAGE_CHARACTERS) break
  }
  return lines.slice(Math.min(from, lines.length - 1))
}

/** Cuts the beginning of a single line that is longer than a page. */
function cutLine(lines: readonly string[], isComplete: boolean): LastLines {
  const [only = ''] = lines
  const isLineCut = lines.length === 1 && only.length > MAX_PAGE_CHARACTERS
  if (!isLineCut) return { lines, isComplete, isLineCut }
  const end = only.slice(getCutPosition(only, only.length - MAX_PAGE_CHARACTERS))
  return { lines: [end], isComplete: false, isLineCut }
}

function readWindow(
  { fs, path }: ToolTarget,
  start: number,
  length: number,
  ctx: CallContext,
): Promise<Uint8Array> {
  return readFile(fs, path, { byteRange: [start, length] }, ctx)
}
