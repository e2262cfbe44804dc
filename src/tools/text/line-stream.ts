import { TextDecoder } from 'node:util'
import { isBinary, VfsError } from '../../vfs/index.ts'
import { sliceStart } from './character-cut.ts'
import { detectEncoding, type Encoding } from './encoding.ts'

/** Limit of a line, so that a file without line ends does not fill the memory. */
const MAX_LINE_CHARACTERS = 1024 * 1024

/** Marker at the end of a cut line. */
const CUT_MARKER = ' … (the line is longer than 1 MiB and cut here)'

/** A text file to read, with its name for messages. */
export interface OpenedText {
  readonly chunks: AsyncIterable<Uint8Array> | readonly Uint8Array[]
  readonly displayPath: string
}

/** Decodes the text of a file in memory. EINVAL if the file is binary. */
export function decodeText(bytes: Uint8Array, displayPath: string): string {
  return createDecoder(bytes, displayPath).decode(bytes)
}

/** Decodes the text of a file as a stream. EINVAL if the file is binary. */
export async function* decodePieces(
  { chunks, displayPath }: OpenedText,
  progress?: (bytes: number) => void,
): AsyncGenerator<string> {
  let decoder: TextDecoder | undefined
  let bytes = 0
  for await (const chunk of chunks) {
    decoder ??= createDecoder(chunk, displayPath)
    const text = decoder.decode(chunk, { stream: true })
    bytes += chunk.length
    progress?.(bytes)
    yield text
  }
  const last = decoder?.decode() ?? ''
  if (last !== '') yield last
}

/**
 * Streams a text file in blocks of whole lines, without the newline at the end of each block. Cuts a line of more than
 * 1 MiB that comes in several pieces.
 * At most one block is buffered, and lines are split from it one by one, which creates little
 * garbage. EINVAL if the file is binary.
 */
export async function* readLineBlocks(
  opened: OpenedText,
  progress?: (bytes: number) => void,
): AsyncGenerator<string> {
  let rest = ''
  for await (const text of decodePieces(opened, progress)) {
    const end = text.lastIndexOf('\n')
    if (end === -1) rest = joinLine(rest, text)
    else {
      yield rest === '' ? text.slice(0, end) : joinBlock(rest, text.slice(0, end))
      rest = text.slice(end + 1)
    }
  }
  // A final newline begins no line.
  if (rest !== '') yield rest
}

/** Splits a block into lines without their ends. */
export function* splitBlock(block: string): Generator<string> {
  let start = 0
  for (let end = block.indexOf('\n'); end !== -1; end = block.indexOf('\n', start)) {
    yield stripReturn(block.slice(start, end))
    start = end + 1
  }
  yield stripReturn(block.slice(start))
}

/** Returns the encoding of a text file by its first bytes. EINVAL if they are binary. */
export function assertText(start: Uint8Array, path: string): Encoding {
  const encoding = detectEncoding(start)
  if (encoding.name === 'utf-8' && isBinary(start)) {
    const detail = 'a binary file, not text; vfs_info shows its size and kind'
    throw new VfsError('EINVAL', path, { op: 'read', detail })
  }
  return encoding
}

export function stripReturn(line: string): string {
  return line.endsWith('\r') ? line.slice(0, -1) : line
}

function createDecoder(start: Uint8Array, path: string): TextDecoder {
  return new TextDecoder(assertText(start, path).name)
}

/** Joins the start of a line to its block. */
function joinBlock(start: string, block: string): string {
  const end = block.indexOf('\n')
  return end === -1 ? joinLine(start, block) : joinLine(start, block.slice(0, end)) + block.slice(end)
}

function joinLine(start: string, end: string): string {
  const line = start + end
  if (line.length <= MAX_LINE_CHARACTERS) return line
  return start.endsWith(CUT_MARKER)
    ? start
    : sliceStart(line, MAX_LINE_CHARACTERS - CUT_MARKER.length) + CUT_MARKER
}
