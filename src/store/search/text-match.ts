import { splitLines } from '../../vfs/index.ts'
import { type Phrase, splitWords, type TextQuery, type TextWord } from './text-query.ts'

const MAX_SNIPPETS = 3
const MAX_SNIPPET_LENGTH = 200
/** Usual BM25 parameters: saturation of repeated terms, and length normalisation. */
const SATURATION = 1.2
const LENGTH_WEIGHT = 0.75

/** A line that shows why a file was found; lines count from 1. */
export interface Snippet {
  readonly line: number
  readonly text: string
}

/** Match of a file: the count of each phrase, and the number of words. */
export interface TextMatch {
  readonly counts: readonly number[]
  readonly length: number
}

/** Matches a text against a query; null if it does not match. */
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
 * Computes the BM25 score of each match, the higher the better. Every match has every phrase, so rarity is derived
 * from the occurrences in all of them.
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

/** Returns the best matching lines in their order. Truncates a long line around its match. */
export function extractSnippets(bytes: Uint8Array, { phrases }: TextQuery): Snippet[] {
  const starts = phrases.map(({ words: [first = ''], isPrefix, words }) => ({
    words: [first],
    isPrefix: isPrefix && words.length === 1,
  }))
  return splitLines(bytes)
    .map((text, index) => {
      const words = splitWords(text)
      // A phrase may continue on the next line; the snippet shows its start.
      const whole = phrases.map((phrase) => findOccurrences(words, phrase))
      const started = starts.map((phrase) => findOccurrences(words, phrase))
      const found = [...whole, ...started].filter((offsets) => offsets.length > 0)
      // Offsets are in order, and a line may have more of them than a call can have arguments.
      const offset = Math.min(...found.map(([first = 0]) => first))
      return { line: index + 1, text, worth: found.length, offset }
    })
    .filter(({ worth }) => worth > 0)
    .sort((one, other) => other.worth - one.worth || one.line - other.line)
    .slice(0, MAX_SNIPPETS)
    .sort((one, other) => one.line - other.line)
    .map(({ line, text, offset }) => ({ line, text: cutAround(text, offset) }))
}

/** Returns the offset of each occurrence of a phrase, in order. */
function findOccurrences(words: readonly TextWord[], { words: wanted, isPrefix }: Phrase): number[] {
  const last = wanted.length - 1
  const startsAt = (start: number) =>
    wanted.every((word, index) => {
      const text = words[start + index]?.text
      return isPrefix && index === last ? text?.startsWith(word) : text === word
    })
  return words.flatMap(({ offset }, start) => (startsAt(start) ? [offset] : []))
}

/** Returns the part of a line around an offset; all of a short line. */
function cutAround(text: string, offset: number): string {
  if (text.length <= MAX_SNIPPET_LENGTH) return text
  const start = Math.max(0, Math.min(offset - MAX_SNIPPET_LENGTH / 4, text.length - MAX_SNIPPET_LENGTH))
  const end = start + MAX_SNIPPET_LENGTH
  const cut = text.slice(start, end).toWellFormed().replaceAll('\ufffd', '')
  return `${start > 0 ? '…' : ''}${cut}${end < text.length ? '…' : ''}`
}
