import { lineBlocks, linesIn } from '../text/line-stream.ts'
import type { OpenedText } from '../text/opened-text.ts'
import type { GrepQuery } from './file-grep.ts'
import type { GrepOutput } from './grep-output.ts'

/** Searches one file as it streams by: holds no more than the lines around a match. */
export async function grepFile(
  { pattern, before, after }: GrepQuery,
  text: OpenedText,
  output: GrepOutput,
  progress: (bytes: number) => void,
): Promise<void> {
  const isMatch =
    typeof pattern === 'string'
      ? (line: string) => line.includes(pattern)
      : (line: string) => pattern.test(line)
  const recent: string[] = []
  let number = 0
  let lastMatch = Number.NEGATIVE_INFINITY
  for await (const block of lineBlocks(text, progress)) {
    for (const line of linesIn(block)) {
      number++
      if (isMatch(line)) {
        for (const [index, earlier] of recent.entries()) {
          output.context(number - recent.length + index, earlier)
        }
        output.match(number, line)
        lastMatch = number
      } else if (number - lastMatch <= after) output.context(number, line)
      if (before > 0) {
        recent.push(line)
        if (recent.length > before) recent.shift()
      }
    }
    if (output.isFull) return
  }
}
