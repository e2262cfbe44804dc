import type { EditRefusal } from './edit-refusal.ts'
import type { Edited } from './line-edit.ts'
import { endNear, lineAt } from './text-lines.ts'

/** Replaces a text by another, as plain text on both sides. */
export interface StringEdit {
  readonly operation: 'replace_string'
  readonly find: string
  readonly replace: string
  readonly all: boolean
}

/** Of a text that occurs often, so many places are told. */
const MAX_TOLD_PLACES = 10
/** A replacement in very many places may make far more of a text than anybody wants to store. */
const MAX_CHARACTERS = 64 * 1024 * 1024
/** So many parts of the new text are held before they are joined. */
const PARTS_APART = 4096

/**
 * Replaces the one place where a text occurs, or all with `all`. A newline in `find` stands for whichever line end
 * the file has there, and one in `replace` becomes the end of the lines around it; unless one of the two has a `\r`,
 * for then its author means line ends exactly.
 */
export function editString(text: string, { find, replace, all }: StringEdit): Edited | EditRefusal {
  const isExact = find.includes('\r') || replace.includes('\r')
  const searched = !isExact && find.includes('\n') ? text.replaceAll('\r\n', '\n') : text
  // Overlapping ones count: each is one the author may have meant. A few are enough to say so.
  const places = [...positions(searched, find, 1).take(MAX_TOLD_PLACES + 1)]
  const [first] = places
  if (first === undefined) {
    return { refusal: "the text of 'find' does not occur in the file; read it again and copy it exactly" }
  }
  if (!all && places.length > 1) return { refusal: ambiguous(searched, places) }
  const put = isExact || !replace.includes('\n') ? () => replace : endingAsAround(text, replace)
  const edited = replaced({ text, searched, find }, put)
  if (edited === undefined) return { refusal: `the text would have more than ${MAX_CHARACTERS} characters` }
  return { text: edited, first: lineAt(searched, first), count: replace.split('\n').length }
}

/** Where a text is, each place at least `step` behind the one before. */
function* positions(text: string, find: string, step: number): Generator<number> {
  for (let at = text.indexOf(find); at !== -1; at = text.indexOf(find, at + step)) yield at
}

interface Search {
  readonly text: string
  /** The text itself, or the same with plain line ends. */
  readonly searched: string
  readonly find: string
}

/** The text with every place replaced, where they do not overlap; undefined if that is too much. */
function replaced({ text, searched, find }: Search, put: (position: number) => string): string | undefined {
  const original = searched === text ? (position: number) => position : withReturns(text, searched)
  const joined: string[] = []
  let parts: string[] = []
  let done = 0
  let characters = text.length
  for (const position of positions(searched, find, find.length)) {
    const from = original(position)
    const replacement = put(from)
    characters += replacement.length
    if (characters > MAX_CHARACTERS) return undefined
    parts.push(text.slice(done, from), replacement)
    done = original(position + find.length)
    if (parts.length < PARTS_APART) continue
    joined.push(parts.join(''))
    parts = []
  }
  return [...joined, ...parts, text.slice(done)].join('')
}

/** Finds positions of a text without returns in the one that has them. Asked for ever greater ones, it never goes back. */
function withReturns(text: string, plain: string): (position: number) => number {
  let returns = 0
  let next = plain.indexOf('\n')
  return (position) => {
    for (; next !== -1 && next < position; next = plain.indexOf('\n', next + 1)) {
      if (text[next + returns] === '\r') returns++
    }
    return position + returns
  }
}

/** The replacement with the line ends of the place it comes to. Asked for ever greater places, it looks at each line once. */
function endingAsAround(text: string, replace: string): (position: number) => string {
  const withReturn = replace.replaceAll('\n', '\r\n')
  let known = -1
  let end = '\n'
  return (position) => {
    if (position > known) {
      end = endNear(text, position)
      const newline = text.indexOf('\n', position)
      known = newline === -1 ? text.length : newline
    }
    return end === '\n' ? replace : withReturn
  }
}

function ambiguous(text: string, places: readonly number[]): string {
  const isMore = places.length > MAX_TOLD_PLACES
  const told = places.slice(0, MAX_TOLD_PLACES)
  const lines = told.map((place) => lineAt(text, place)).join(', ')
  const times = `${isMore ? 'more than ' : ''}${told.length} times, at lines ${lines}${isMore ? ', …' : ''}`
  return `the text of 'find' occurs ${times}; give more of what is around it, or all: true`
}
