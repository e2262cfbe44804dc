import { type CallContext, readFile } from '../../vfs/index.ts'
import type { Place } from '../place.ts'
import { assertText, withoutReturn } from './line-stream.ts'
import { MAX_TEXT_CHARACTERS } from './text-output.ts'

const FIRST_WINDOW_BYTES = 64 * 1024
const GROWTH = 4
const PROBE_BYTES = 8000

/** The end of a file; `isCut` if it has fewer lines than were asked for, because those before are too much to hold. */
export interface LastLines {
  readonly lines: readonly string[]
  readonly isCut: boolean
}

/** The last lines of a text file, read from its end: holds no more than it gives, whatever the size of the file. */
export async function lastLines(
  place: Place,
  size: number,
  count: number,
  ctx: CallContext,
): Promise<LastLines> {
  const probe = await window(place, 0, PROBE_BYTES, ctx)
  const { name } = assertText(probe, place.shown)
  for (let length = FIRST_WINDOW_BYTES; ; length *= GROWTH) {
    const earliest = Math.max(0, size - length)
    // Even, so that no character of two bytes is cut in half.
    const start = earliest - (earliest % 2)
    const bytes = await window(place, start, size - start, ctx)
    const lines = new TextDecoder(name).decode(bytes).split('\n')
    if (lines.at(-1) === '') lines.pop()
    const isWhole = start === 0
    if (isWhole || lines.length > count || length >= MAX_TEXT_CHARACTERS) {
      // The first line may have begun before the window.
      const complete = isWhole || lines.length === 1 ? lines : lines.slice(1)
      return { lines: complete.slice(-count).map(withoutReturn), isCut: !isWhole && complete.length < count }
    }
  }
}

function window({ fs, path }: Place, start: number, length: number, ctx: CallContext): Promise<Uint8Array> {
  return readFile(fs, path, { byteRange: [start, length] }, ctx)
}
