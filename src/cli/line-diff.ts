import { diffIndices } from 'node-diff3'

/** Beyond this many lines on both sides, looking for common ones takes longer than a person waits. */
const MAX_COMPARED_LINES = 200_000

/** Lines of the old text that gave way to lines of the new one. Starts count from 0. */
export interface LineChange {
  readonly oldStart: number
  readonly oldLines: readonly string[]
  readonly newStart: number
  readonly newLines: readonly string[]
}

/** What changed from one list of lines to another, in order. */
export function diffLines(old: readonly string[], now: readonly string[]): LineChange[] {
  const start = commonPrefix(old, now)
  const end = commonSuffix(old, now, start)
  const [oldMiddle, newMiddle] = [old.slice(start, old.length - end), now.slice(start, now.length - end)]
  if (oldMiddle.length === 0 && newMiddle.length === 0) return []
  if (oldMiddle.length + newMiddle.length > MAX_COMPARED_LINES) {
    return [{ oldStart: start, oldLines: oldMiddle, newStart: start, newLines: newMiddle }]
  }
  const numbers = new Map<string, number>()
  // As numbers: the package keeps lines as keys of a plain object, where `constructor` would mean something.
  const numbered = (lines: readonly string[]) =>
    lines.map((line) => {
      const number = numbers.get(line) ?? numbers.size
      numbers.set(line, number)
      return number
    })
  return diffIndices(numbered(oldMiddle), numbered(newMiddle)).map(({ buffer1, buffer2 }) => ({
    oldStart: start + buffer1[0],
    oldLines: oldMiddle.slice(buffer1[0], buffer1[0] + buffer1[1]),
    newStart: start + buffer2[0],
    newLines: newMiddle.slice(buffer2[0], buffer2[0] + buffer2[1]),
  }))
}

function commonPrefix(old: readonly string[], now: readonly string[]): number {
  const most = Math.min(old.length, now.length)
  let length = 0
  while (length < most && old[length] === now[length]) length++
  return length
}

function commonSuffix(old: readonly string[], now: readonly string[], start: number): number {
  const most = Math.min(old.length, now.length) - start
  let length = 0
  while (length < most && old.at(-1 - length) === now.at(-1 - length)) length++
  return length
}
