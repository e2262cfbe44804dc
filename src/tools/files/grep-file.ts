import { Yielder } from '../../vfs/index.ts'
import { type OpenedText, readLineBlocks, splitBlock } from '../text/line-stream.ts'
import type { GrepOutput } from './grep-output.ts'
import type { GrepQuery } from './grep-query.ts'

/** Progress listener and signal of a search. */
interface GrepProgress {
  readonly progress: (bytes: number) => void
  readonly signal: AbortSignal | undefined
}

/** Searches one file as a stream: buffers only the lines around a match. */
export async function grepFile(
  { pattern, before, after }: GrepQuery,
  text: OpenedText,
  output: GrepOutput,
  { progress, signal }: GrepProgress,
): Promise<void> {
  const isMatch =
    typeof pattern === 'string'
      ? (line: string) => line.includes(pattern)
      : (line: string) => pattern.test(line)
  const stepsPerCharacter = typeof pattern === 'string' ? 1 : (pattern.stepsPerCharacter ?? 1)
  const yielder = new Yielder()
  const recent: string[] = []
  let number = 0
  let lastMatch = Number.NEGATIVE_INFINITY
  for await (const block of readLineBlocks(text, progress)) {
    for (const line of splitBlock(block)) {
      if (yielder.shouldYield(line.length * stepsPerCharacter)) await yielder.yield(signal)
      number++
      if (isMatch(line)) {
        for (const [index, earlier] of recent.entries()) {
          output.addContext(number - recent.length + index, earlier)
        }
        output.addMatch(number, line)
        lastMatch = number
      } else if (number - lastMatch <= after) output.addContext(number, line)
      if (before > 0) {
        recent.push(line)
        if (recent.length > before) recent.shift()
      }
    }
    if (output.isFull) return
  }
}
