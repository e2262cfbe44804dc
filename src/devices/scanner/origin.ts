/** What a tool or a page returned to a process. */
export interface OriginalText {
  /** Where it is from, such as an address or a device. */
  readonly origin: string
  readonly text: string
}

/** What tools and pages returned to a process, so that what it writes can be traced to them. */
export type OriginsOf = (pid: number) => Iterable<OriginalText>

/** So many words in a row are no accident. */
const RUN = 8
/** Fewer words are anybody's. */
const MIN_WORDS = 3
/** One such word is no accident either: it is code for something, which a command can turn back into words. */
const LONG_WORD = 24

/** Where a text was taken from: a part of it is from a source, or the whole of a text that is too short for that. */
export function originOf(text: string, sources: Iterable<OriginalText>): string | undefined {
  const words = wordsOf(text)
  const run = words.length < MIN_WORDS ? RUN : Math.min(RUN, words.length)
  return sourceWith(words, run, sources)
}

/** Where a part of a text was taken from: it repeats eight words in a row of a source, or one long word. */
export function originWithin(text: string, sources: Iterable<OriginalText>): string | undefined {
  return sourceWith(wordsOf(text), RUN, sources)
}

/** Looked for by the first two words of each run, in time that grows with the sources. */
function sourceWith(
  words: readonly string[],
  length: number,
  sources: Iterable<OriginalText>,
): string | undefined {
  const runs = new Set(runsOf(words, length))
  const beginnings = new Set(words.map((_, at) => runAt(words, at, 2)))
  const long = new Set(words.filter((word) => word.length >= LONG_WORD))
  if (runs.size + long.size === 0) return undefined
  for (const { origin, text } of sources) {
    const from = wordsOf(text)
    const isTaken = (at: number) => beginnings.has(runAt(from, at, 2)) && runs.has(runAt(from, at, length))
    if (from.some((word, at) => long.has(word) || isTaken(at))) return origin
  }
  return undefined
}

function runsOf(words: readonly string[], length: number): string[] {
  return words.slice(0, Math.max(0, words.length - length + 1)).map((_, at) => runAt(words, at, length))
}

function runAt(words: readonly string[], at: number, length: number): string {
  return words.slice(at, at + length).join(' ')
}

/** What tools return is JSON, and JSON in JSON: the end of a line there is no letter of the next word. */
function wordsOf(text: string): string[] {
  return (
    text
      .replaceAll(/\\+u([\da-f]{4})/gi, (_, code: string) => String.fromCharCode(Number.parseInt(code, 16)))
      .replaceAll(/\\+[bfnrt]/g, ' ')
      .normalize('NFKC')
      .toLowerCase()
      .match(/[\p{L}\p{N}]+/gu) ?? []
  )
}
