/** What a tool or a page returned to a process. */
export interface OriginalText {
  /** Where it is from, such as an address or a device. */
  readonly origin: string
  readonly text: string
}

/** What tools and pages returned to a process, so that what it writes can be traced to them. */
export type ListOrigins = (pid: number) => Iterable<OriginalText>

/** So many words in a row are no accident. */
const RUN_WORDS = 8
/** Fewer words are anybody's. */
const MIN_WORDS = 3
/** One such word is no accident either: it is code for something, which a command can turn back into words. */
const LONG_WORD_CHARACTERS = 24

/** Where a text was taken from: a part of it is from a source, or the whole of a text that is too short for that. */
export function findOrigin(text: string, sources: Iterable<OriginalText>): string | undefined {
  const words = splitWords(text)
  const run = words.length < MIN_WORDS ? RUN_WORDS : Math.min(RUN_WORDS, words.length)
  return findSource(words, run, sources)
}

/** Where a part of a text was taken from: it repeats eight words in a row of a source, or one long word. */
export function findPartialOrigin(text: string, sources: Iterable<OriginalText>): string | undefined {
  return findSource(splitWords(text), RUN_WORDS, sources)
}

/** Looked for by the first two words of each run, in time that grows with the sources. */
function findSource(
  words: readonly string[],
  length: number,
  sources: Iterable<OriginalText>,
): string | undefined {
  const runs = new Set(listRuns(words, length))
  const beginnings = new Set(words.map((_, at) => getRun(words, at, 2)))
  const long = new Set(words.filter((word) => word.length >= LONG_WORD_CHARACTERS))
  if (runs.size + long.size === 0) return undefined
  for (const { origin, text } of sources) {
    const from = splitWords(text)
    const isTaken = (at: number) => beginnings.has(getRun(from, at, 2)) && runs.has(getRun(from, at, length))
    if (from.some((word, at) => long.has(word) || isTaken(at))) return origin
  }
  return undefined
}

function listRuns(words: readonly string[], length: number): string[] {
  return words.slice(0, Math.max(0, words.length - length + 1)).map((_, at) => getRun(words, at, length))
}

function getRun(words: readonly string[], at: number, length: number): string {
  return words.slice(at, at + length).join(' ')
}

/** What tools return is JSON, and JSON in JSON: the end of a line there is no letter of the next word. */
function splitWords(text: string): string[] {
  return (
    text
      .replaceAll(/\\+u([\da-f]{4})/gi, (_, code: string) => String.fromCharCode(Number.parseInt(code, 16)))
      .replaceAll(/\\+[bfnrt]/g, ' ')
      .normalize('NFKC')
      .toLowerCase()
      .match(/[\p{L}\p{N}]+/gu) ?? []
  )
}
