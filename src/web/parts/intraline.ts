/** A part of a line, and whether the other line lacks it. */
export interface LineSpan {
  readonly text: string
  readonly isChanged: boolean
}

/** Both lines of a changed pair, in spans. */
export interface LinePair {
  readonly before: readonly LineSpan[]
  readonly after: readonly LineSpan[]
}

/** Two lines with more words than this are compared by their ends only. */
const MAX_WORDS = 400
/** With less than this share of a line in common, marks would cover everything. */
const MIN_COMMON = 0.3

/** Compares two lines word by word. Returns undefined where they have too little in common to be worth marks. */
export function compareLines(before: string, after: string): LinePair | undefined {
  const [old, now] = [splitWords(before), splitWords(after)]
  const isCommon = old.length * now.length > MAX_WORDS * MAX_WORDS ? markEnds(old, now) : markCommon(old, now)
  const common = isCommon.before.reduce(
    (sum, isWordCommon, index) => sum + (isWordCommon && old[index]?.trim() ? (old[index]?.length ?? 0) : 0),
    0,
  )
  if (common < MIN_COMMON * Math.max(before.trim().length, after.trim().length)) return undefined
  return { before: toSpans(old, isCommon.before), after: toSpans(now, isCommon.after) }
}

function splitWords(line: string): string[] {
  return line.match(/[\p{L}\p{N}_]+|\s+|./gu) ?? []
}

interface CommonWords {
  readonly before: boolean[]
  readonly after: boolean[]
}

/** Marks a longest common subsequence of words. */
function markCommon(old: readonly string[], now: readonly string[]): CommonWords {
  const width = now.length + 1
  const lengths = new Uint16Array((old.length + 1) * width)
  for (let i = old.length - 1; i >= 0; i--) {
    for (let j = now.length - 1; j >= 0; j--) {
      lengths[i * width + j] =
        old[i] === now[j]
          ? (lengths[(i + 1) * width + j + 1] ?? 0) + 1
          : Math.max(lengths[(i + 1) * width + j] ?? 0, lengths[i * width + j + 1] ?? 0)
    }
  }
  const common = { before: old.map(() => false), after: now.map(() => false) }
  for (let i = 0, j = 0; i < old.length && j < now.length; ) {
    if (old[i] === now[j]) {
      common.before[i++] = true
      common.after[j++] = true
    } else if ((lengths[(i + 1) * width + j] ?? 0) >= (lengths[i * width + j + 1] ?? 0)) i++
    else j++
  }
  return common
}

/** Marks the words that both lines begin and end with. */
function markEnds(old: readonly string[], now: readonly string[]): CommonWords {
  const shorter = Math.min(old.length, now.length)
  let head = 0
  while (head < shorter && old[head] === now[head]) head++
  let tail = 0
  while (tail < shorter - head && old.at(-1 - tail) === now.at(-1 - tail)) tail++
  const mark = (words: readonly string[]) =>
    words.map((_word, index) => index < head || index >= words.length - tail)
  return { before: mark(old), after: mark(now) }
}

function toSpans(words: readonly string[], isCommon: readonly boolean[]): LineSpan[] {
  const spans: { text: string; isChanged: boolean }[] = []
  for (const [index, text] of words.entries()) {
    const isChanged = !isCommon[index]
    const last = spans.at(-1)
    if (last?.isChanged === isChanged) last.text += text
    else spans.push({ text, isChanged })
  }
  return spans
}
