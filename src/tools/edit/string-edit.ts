import { Yielder } from '../../vfs/index.ts'
import { TextSearch } from '../text/text-search.ts'
import { MAX_EDITABLE_BYTES } from '../tool-target.ts'
import type { EditRefusal } from './edit-refusal.ts'
import type { EditedText } from './line-edit.ts'
import { getLineEnding, getLineNumber } from './text-lines.ts'

/** Replaces a text by another, as plain text on both sides. */
export interface StringEdit {
  readonly operation: 'replace_string'
  readonly find: string
  readonly replace: string
  readonly all: boolean
}

/** Limit of reported matches. */
const MAX_REPORTED_MATCHES = 10
/** Limit of a text that is searched without its white space. */
const MAX_COMPARED_CHARACTERS = 2 ** 20
/** Cost of one replacement, or of one pause in a search, in characters. */
const STEPS_PER_MATCH = 64
const STEPS_PER_PAUSE = 64 * 1024
/** Limit of parts before they are joined. */
const MAX_UNJOINED_PARTS = 4096

/**
 * Replaces the only match, or all with `all`. A newline in `find` matches either line end of the file,
 * and one in `replace` becomes the end of the lines around it; unless one of the two has a `\r`,
 * which makes line ends exact. Yields to other tasks; rejects if the signal aborts.
 */
export async function editString(
  text: string,
  { find, replace, all }: StringEdit,
  signal?: AbortSignal,
): Promise<EditedText | EditRefusal> {
  const isExact = find.includes('\r') || replace.includes('\r')
  const searched = !isExact && find.includes('\n') ? text.replaceAll('\r\n', '\n') : text
  // Overlapping matches count: the author may have meant any of them. A few are enough.
  const search = { text, searched, find: new TextSearch(find), length: find.length, signal }
  const positions = await findFirstMatches(search, MAX_REPORTED_MATCHES + 1)
  const [first] = positions
  if (first === undefined) return { refusal: await formatMissing(text, find, signal) }
  if (!all && positions.length > 1) return { refusal: formatAmbiguity(searched, positions) }
  const getReplacement =
    isExact || !replace.includes('\n') ? () => replace : createLineEndAdapter(text, replace)
  const edited = await replaceMatches(search, getReplacement)
  if (edited === undefined) {
    const refusal = `the result would exceed ${MAX_EDITABLE_BYTES} bytes, the limit for edits`
    return { refusal, code: 'EFBIG' }
  }
  return { text: edited, first: getLineNumber(searched, first), count: replace.split('\n').length }
}

interface StringSearch {
  readonly text: string
  /** The text, or the text with plain line ends. */
  readonly searched: string
  readonly find: TextSearch
  /** Length of the text to find. */
  readonly length: number
  readonly signal: AbortSignal | undefined
}

async function findFirstMatches({ searched, find, signal }: StringSearch, count: number): Promise<number[]> {
  const positions: number[] = []
  const yielder = new Yielder()
  for (const position of find.findMatches(searched, true)) {
    if (position !== null) positions.push(position)
    else if (yielder.shouldYield(STEPS_PER_PAUSE)) await yielder.yield(signal)
    if (positions.length === count) break
  }
  return positions
}

/** Replaces all matches that do not overlap; undefined if the result is too large. */
async function replaceMatches(
  { text, searched, find, length, signal }: StringSearch,
  getReplacement: (position: number) => string,
): Promise<string | undefined> {
  const toOriginal = searched === text ? (position: number) => position : createPositionMapper(text, searched)
  const joined: string[] = []
  let parts: string[] = []
  let done = 0
  let characters = text.length
  const yielder = new Yielder()
  for (const position of find.findMatches(searched, false)) {
    if (yielder.shouldYield(position === null ? STEPS_PER_PAUSE : STEPS_PER_MATCH))
      await yielder.yield(signal)
    if (position === null) continue
    const from = toOriginal(position)
    const replacement = getReplacement(from)
    parts.push(text.slice(done, from), replacement)
    done = toOriginal(position + length)
    characters += replacement.length - (done - from)
    // Every character takes at least one byte.
    if (characters > MAX_EDITABLE_BYTES) return undefined
    if (parts.length < MAX_UNJOINED_PARTS) continue
    joined.push(parts.join(''))
    parts = []
  }
  return [...joined, ...parts, text.slice(done)].join('')
}

/** Maps ascending positions of the text without returns to the original, in one pass. */
function createPositionMapper(text: string, plain: string): (position: number) => number {
  let returns = 0
  let next = plain.indexOf('\n')
  return (position) => {
    for (; next !== -1 && next < position; next = plain.indexOf('\n', next + 1)) {
      if (text[next + returns] === '\r') returns++
    }
    return position + returns
  }
}

/** Returns the replacement with the line ends of a position; for ascending positions, in one pass. */
function createLineEndAdapter(text: string, replace: string): (position: number) => string {
  const withReturn = replace.replaceAll('\n', '\r\n')
  let knownUntil = -1
  let end = '\n'
  return (position) => {
    if (position > knownUntil) {
      end = getLineEnding(text, position)
      const newline = text.indexOf('\n', position)
      knownUntil = newline === -1 ? text.length : newline
    }
    return end === '\n' ? replace : withReturn
  }
}

/** Formats the refusal for a text that does not occur. Models often copy one with other white space. */
async function formatMissing(text: string, find: string, signal: AbortSignal | undefined): Promise<string> {
  const missing = "the text of 'find' does not occur in the file"
  const words = find.replace(/\s+/g, '')
  const searched = text.length > MAX_COMPARED_CHARACTERS ? '' : text.replace(/\s+/g, '')
  const search = { text, searched, find: new TextSearch(words), length: words.length, signal }
  const [at] = words === '' ? [] : await findFirstMatches(search, 1)
  if (at === undefined) return `${missing}; read it again and copy it exactly`
  const line = getLineNumber(text, skipWords(text, at))
  return `${missing}; at line ${line} is a text that differs only in white space: read it again and copy it exactly`
}

/** Returns the position behind as many characters that are no white space. */
function skipWords(text: string, count: number): number {
  let left = count
  for (const { 0: word, index } of text.matchAll(/\S+/g)) {
    if (left < word.length) return index + left
    left -= word.length
  }
  return text.length
}

function formatAmbiguity(text: string, positions: readonly number[]): string {
  const isMore = positions.length > MAX_REPORTED_MATCHES
  const reported = positions.slice(0, MAX_REPORTED_MATCHES)
  const lines = reported.map((position) => getLineNumber(text, position)).join(', ')
  const times = `${isMore ? 'more than ' : ''}${reported.length} times, at lines ${lines}${isMore ? ', …' : ''}`
  return `the text of 'find' occurs ${times}; include more of the surrounding text, or pass all: true`
}
