import { splitLines } from '../../vfs/index.ts'
import { type Phrase, splitWords, type TextQuery, type TextWord } from './text-query.ts'

const MAX_SNIPPETS = 3
const MAX_SNIPPET_LENGTH = 200
/** How fast further occurrences count for less, and how much long files count for less: as BM25 usually has them. */
const SATURATION = 1.2
const LENGTH_WEIGHT = 0.75

/** A line that shows why a file was found; lines count from 1. */
export interface Snippet {
  readonly line: number
  readonly text: string
}

/** How a file answers a query: how often it has each phrase, and how many words. */
export interface TextMatch {
  readonly counts: readonly number[]
  readonly length: number
}

/** Null if the text is no answer. */
export function matchText(text: string, { phrases, excluded }: TextQuery): TextMatch | null {
  const words = splitWords(text)
  const counts: number[] = []
  for (const phrase of phrases) {
    const count = findOccurrences(words, phrase).length
    if (count === 0) return null
    counts.push(count)
  }
  return excluded.some((phrase) => findOccurrences(words, phrase).length > 0)
    ? null
    : { counts, length: words.length }
}

/**
 * The score of each answer, the higher the better, as BM25 has it. Every answer has every phrase, so how rare a phrase
 * is shows in how often it occurs in all of them.
 */
export function computeScores(matches: readonly TextMatch[]): number[] {
  const words = matches.reduce((sum, { length }) => sum + length, 0)
  const mean = words / matches.length
  const weights = (matches[0]?.counts ?? []).map((_, phrase) => {
    const occurrences = matches.reduce((sum, { counts }) => sum + (counts[phrase] ?? 0), 0)
    return Math.log(1 + words / occurrences)
  })
  return matches.map(({ counts, length }) => {
    const norm = SATURATION * (1 - LENGTH_WEIGHT + (LENGTH_WEIGHT * length) / mean)
    return weights.reduce((score, weight, phrase) => {
      const count = counts[phrase] ?? 0
      return score + (weight * count * (SATURATION + 1)) / (count + norm)
    }, 0)
  })
}

/** The lines that have the most of a query, in their order. A long line is cut around what it has. */
export function extractSnippets(bytes: Uint8Array, { phrases }: TextQuery): Snippet[] {
  const starts = phrases.map(({ words: [first = ''], isPrefix, words }) => ({
    words: [first],
    isPrefix: isPrefix && words.length === 1,
  }))
  return splitLines(bytes)
    .map((text, index) => {
      const words = splitWords(text)
      // A phrase may go on in the next line; it is shown where it starts.
      const whole = phrases.map((phrase) => findOccurrences(words, phrase))
      const begun = starts.map((phrase) => findOccurrences(words, phrase))
      const found = [...whole, ...begun].flat()
      const worth = [...whole, ...begun].filter((places) => places.length > 0).length
      return { line: index + 1, text, worth, at: Math.min(...found) }
    })
    .filter(({ worth }) => worth > 0)
    .sort((one, other) => other.worth - one.worth || one.line - other.line)
    .slice(0, MAX_SNIPPETS)
    .sort((one, other) => one.line - other.line)
    .map(({ line, text, at }) => ({ line, text: cutAround(text, at) }))
}

/** Where a phrase starts in a text, each time. */
function findOccurrences(words: readonly TextWord[], { words: wanted, isPrefix }: Phrase): number[] {
  const last = wanted.length - 1
  const isAt = (start: number) =>
    wanted.every((word, index) => {
      const text = words[start + index]?.text
      return isPrefix && index === last ? text?.startsWith(word) : text === word
    })
  return words.flatMap(({ at }, start) => (isAt(start) ? [at] : []))
}

function cutAround(text: string, at: number): string {
  if (text.length <= MAX_SNIPPET_LENGTH) return text
  const start = Math.max(0, Math.min(at - MAX_SNIPPET_LENGTH / 4, text.length - MAX_SNIPPET_LENGTH))
  const end = start + MAX_SNIPPET_LENGTH
  const cut = text.slice(start, end).toWellFormed().replaceAll('\ufffd', '')
  return `${start > 0 ? '…' : ''}${cut}${end < text.length ? '…' : ''}`
}
