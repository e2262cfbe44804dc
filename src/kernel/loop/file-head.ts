import type { DeviceFile } from '../device/index.ts'

/** Limit in lines for one read of a file, as in the file tools. */
const MAX_LINES = 2000
const MAX_CHARACTERS = 100_000
const READ_BYTES = 64 * 1024

/** Reads a file as text up to the limit. If it truncates, a last line gives the line to continue from. */
export async function readHead(file: Pick<DeviceFile, 'read'>): Promise<string> {
  const decoder = new TextDecoder()
  let text = ''
  while (text.length <= MAX_CHARACTERS) {
    const bytes = await file.read(READ_BYTES)
    text += decoder.decode(bytes, { stream: bytes.length > 0 })
    if (bytes.length === 0) break
  }
  const end = findHeadEnd(text)
  if (end === text.length) return text
  const head = text.slice(0, end)
  const next = head.split('\n').length
  return `${head}${head.endsWith('\n') ? '' : '\n'}… (more follows, from line ${next} on: continue with file_read, offset ${next})`
}

/** Returns the end of the last whole line that fits, or a position inside the first line if it is too long. */
function findHeadEnd(text: string): number {
  let end = 0
  for (let lines = 0; lines < MAX_LINES; lines++) {
    const newline = text.indexOf('\n', end)
    const next = newline === -1 ? text.length : newline + 1
    if (next > MAX_CHARACTERS) return end > 0 ? end : toCharacterBoundary(text, MAX_CHARACTERS)
    end = next
    if (newline === -1) return end
  }
  return end
}

/** Moves a position back to a character boundary. */
function toCharacterBoundary(text: string, position: number): number {
  return text.slice(0, position).isWellFormed() || !text.isWellFormed() ? position : position - 1
}
