/** A text that a tool or a page returned to a process. */
export interface OriginalText {
  /** Source of the text, such as an address or a device. */
  readonly origin: string
  readonly text: string
}

/** Lists the texts that tools and pages returned to a process, to trace what it writes. */
export type ListOrigins = (pid: number) => Iterable<OriginalText>

/** Words in a row that count as a copy. */
const RUN_WORDS = 8
/** A shorter text has an origin only by a long word. */
const MIN_WORDS = 3
/** Length from which a single word counts as a copy: it is likely encoded text. */
const LONG_WORD_CHARACTERS = 24

/** Returns the origin of a text: a source of a part of it, or of the whole if the text is short. */
export function findOrigin(text: string, sources: Iterable<OriginalText>): string | undefined {
  const words = splitWords(text)
  const run = words.length < MIN_WORDS ? RUN_WORDS : Math.min(RUN_WORDS, words.length)
  return findSource(words, run, sources)
}

/** Returns the origin of a part of a text: it repeats eight words in a row of a source, or one long word. */
export function findPartialOrigin(text: string, sources: Iterable<OriginalText>): string | undefined {
  return findSource(splitWords(text), RUN_WORDS, sources)
}

/** Returns the origin of the first source with a long word or a run of the text, in time linear in the sources. */
function findSource(
  words: readonly string[],
  length: number,
  sources: Iterable<OriginalText>,
): string | undefined {
  const runs = new Set(listRuns(words, length))
  const beginnings = new Set(words.map((_, index) => getRun(words, index, 2)))
  const longWords = new Set(words.filter((word) => word.length >= LONG_WORD_CHARACTERS))
  if (runs.size + longWords.size === 0) return undefined
  for (const { origin, text } of sources) {
    const sourceWords = splitWords(text)
    const isCopied = (index: number) =>
      beginnings.has(getRun(sourceWords, index, 2)) && runs.has(getRun(sourceWords, index, length))
    if (sourceWords.some((word, index) => longWords.has(word) || isCopied(index))) return origin
  }
  return undefined
}

function listRuns(words: readonly string[], length: number): string[] {
  return words
    .slice(0, Math.max(0, words.length - length + 1))
    .map((_, index) => getRun(words, index, length))
}

function getRun(words: readonly string[], index: number, length: number): string {
  return words.slice(index, index + length).join(' ')
}

/** Splits a text into lower-case words. Decodes the escapes of nested JSON. */
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
