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

/** Where a text was taken from: it repeats eight words in a row of a source, or the whole of a shorter text is there. */
export function originOf(text: string, sources: Iterable<OriginalText>): string | undefined {
  const words = wordsOf(text)
  if (words.length < MIN_WORDS) return undefined
  const length = Math.min(RUN, words.length)
  const runs = words
    .slice(0, words.length - length + 1)
    .map((_, at) => ` ${words.slice(at, at + length).join(' ')} `)
  for (const source of sources) {
    const whole = ` ${wordsOf(source.text).join(' ')} `
    if (runs.some((run) => whole.includes(run))) return source.origin
  }
  return undefined
}

function wordsOf(text: string): string[] {
  return (
    text
      .normalize('NFKC')
      .toLowerCase()
      .match(/[\p{L}\p{N}]+/gu) ?? []
  )
}
